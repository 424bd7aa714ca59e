import threading
from collections.abc import Container
from typing import ClassVar

from exporters.collector import Measurement, Notice
from exporters.rounds import Batch, Rounds
from forewarn.records import Outcome

DRIVE = "node/n7/disk/a"


class Fake:
    deadline_seconds = 0.5

    def __init__(self, name: str, signal: str) -> None:
        self.name = name
        self.signals: tuple[str, ...] = (signal,)
        self.gate = threading.Event()
        self.gate.set()

    def read(self, due: Container[str]) -> list[Measurement]:
        assert self.gate.wait(60)
        return [Measurement(s, DRIVE, 1.0) for s in self.signals if s in due]


def names(batches: list[Batch]) -> set[str]:
    return {batch.collector for batch in batches}


def wait_for(rounds: Rounds, name: str) -> Batch:
    for _ in range(3000):
        for batch in rounds.wait(0.01):
            assert batch.collector == name
            return batch
    raise AssertionError(f"nothing came of {name}")


def test_the_prompt_share_a_gathering_and_the_slow_one_comes_later() -> None:
    prompt, slow = Fake("prompt", "nic_rx_bytes_total"), Fake("slow", "nic_tx_bytes_total")
    slow.deadline_seconds = 60.0
    slow.gate.clear()
    rounds = Rounds([prompt, slow], 1.0)
    assert rounds.begin(0) == []
    assert names(rounds.gather(0.5)) == {"prompt"}
    slow.gate.set()
    batch = wait_for(rounds, "slow")
    assert batch.started_unix_nano > 0
    assert [m.outcome for m in batch.measurements] == [Outcome.OK]
    rounds.close()


def test_a_hung_collector_costs_only_itself() -> None:
    fine, hung = Fake("fine", "nic_rx_bytes_total"), Fake("hung", "nic_tx_bytes_total")
    rounds = Rounds([fine, hung], 1.0)
    rounds.begin(0)
    assert names(rounds.gather(30.0)) == {"fine", "hung"}
    hung.gate.clear()
    rounds.begin(1)
    assert names(rounds.gather(0.3)) == {"fine"}
    batch = wait_for(rounds, "hung")
    assert [m.outcome for m in batch.measurements] == [Outcome.FAILED]
    lost = rounds.begin(2)
    assert [(b.collector, b.measurements[0].outcome) for b in lost] == [("hung", Outcome.FAILED)]
    assert names(rounds.gather(30.0)) == {"fine"}
    assert rounds.workers["hung"].failures == 2
    hung.gate.set()
    rounds.close()


def test_what_was_noticed_is_told_even_if_the_reading_came_too_late() -> None:
    notice = Notice(DRIVE, "nvme.event:x", "minor", "")

    class Seeing(Fake):
        events: ClassVar[dict[str, str]] = {"nic_rx_bytes_total": "nvme.event"}

        def notices(self) -> list[Notice]:
            return [notice]

    own = Seeing("own", "nic_rx_bytes_total")
    rounds = Rounds([own], 1.0)
    own.gate.clear()
    rounds.begin(0)
    assert wait_for(rounds, "own").measurements == []  # its deadline is over
    own.gate.set()
    batch = wait_for(rounds, "own")
    assert (batch.measurements, batch.notices) == ([], (notice,))
    rounds.close()
