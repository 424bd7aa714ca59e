import contextlib
import random
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import msgspec

from forewarn import wire
from forewarn.records import Finding
from tests.detector import samples
from tests.detector.file_bus import FileBus
from tests.detector.receiver import Received, Receiver, receiving

ROOT = Path(__file__).parents[2]
KILLS = 8
SETTLE_SECONDS = 60.0  # generous: a start takes about one


class Life:
    """One life of a decide process."""

    def __init__(self, folder: Path, url: str) -> None:
        self._log = (folder / "log.txt").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.detector.decide_process", str(folder), url],
            cwd=ROOT, stderr=self._log,
        )  # fmt: skip

    def let_live(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._log.close()


def faults() -> list[Finding]:
    return [samples.finding(samples.XID_79, samples.gpu(n, n), n) for n in range(KILLS)]


def wait_until_taken(receiver: Receiver, count: int) -> None:
    """Wait until so many requests came, answered or not."""
    with receiver.arrived:
        assert receiver.arrived.wait_for(lambda: len(receiver.received) >= count, SETTLE_SECONDS)


def opened(requests: list[Received]) -> dict[str, set[bytes]]:
    """Return the bodies by webhook-id."""
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for request in requests:
        bodies[request.headers["webhook-id"]].add(request.body)
    return bodies


def test_kill_between_finding_and_webhook_neither_loses_nor_tells_twice(tmp_path: Path) -> None:
    chance = random.Random(1)
    bus = FileBus(tmp_path)
    put = bus.producer().publish
    for item in samples.inventory():
        put("inventory", item.entity, wire.encode_inventory(item))
    with receiving() as receiver:
        for number, own in enumerate(faults()):
            # Half of the lives end when a request has come and before it is answered for good:
            # told, but not yet marked. The others end at whatever moment.
            receiver.answers = [(503, {})] if number % 2 else [(204, {})]
            life = Life(tmp_path, receiver.url)
            put("findings", own.entity, wire.encode_finding(own))
            if number % 2:
                wait_until_taken(receiver, len(receiver.received) + 1)
            else:
                life.let_live(chance.uniform(0.2, 1.6))
            life.kill()
        receiver.answers = [(204, {})]
        life = Life(tmp_path, receiver.url)
        with receiver.arrived:
            receiver.arrived.wait_for(
                lambda: len(opened(receiver.accepted())) == KILLS, SETTLE_SECONDS
            )
        life.kill()
    told = opened(receiver.received)
    incidents = {id_.partition(":")[0] for id_ in told}
    assert len(incidents) == KILLS  # nothing lost
    assert len(told) == KILLS  # no two ids for one change
    assert all(len(bodies) == 1 for bodies in told.values())  # the same bytes each time
    entities = {
        msgspec.json.decode(body)["data"]["incident"]["entity"]
        for bodies in told.values()
        for body in bodies
    }
    assert entities == {own.entity for own in faults()}
    assert opened(receiver.accepted()).keys() == told.keys()
