import threading
from collections.abc import Container
from queue import SimpleQueue

import pytest

from exporters.collector import CollectorError, Measurement
from exporters.worker import Report, Worker
from forewarn.records import Outcome
from tests.exporters.fakes import Clock, until

FAST, SLOW = "nic_rx_bytes_total", "nic_rx_errors_total"  # due every second, every ten
ENTITY = "node/n7/nic/eth0/port/1"


class Fake:
    """A collector that does what the test says."""

    name = "fake"
    signals: tuple[str, ...] = (FAST, SLOW)
    deadline_seconds = 3.0

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.extra: list[Measurement] = []
        self.gate = threading.Event()
        self.gate.set()
        self.reads = 0

    def read(self, due: Container[str]) -> list[Measurement]:
        self.reads += 1
        assert self.gate.wait(60)
        if self.error is not None:
            raise self.error
        return [Measurement(s, ENTITY, 1.0) for s in self.signals if s in due] + self.extra


class Bench:
    def __init__(self, clock: Clock) -> None:
        self.fake, self.clock = Fake(), clock
        self.results: SimpleQueue[Report] = SimpleQueue()
        self.worker = Worker(self.fake, 1.0, self.results, clock.time_ns, clock.monotonic)

    def read(self, due: frozenset[str] = frozenset({FAST, SLOW})) -> list[Measurement] | None:
        assert self.worker.begin(due) == []
        return self.worker.finish(self.results.get(timeout=30))


@pytest.fixture
def bench(clock: Clock) -> Bench:
    return Bench(clock)


def test_each_signal_is_due_at_its_own_period(bench: Bench) -> None:
    due = [bench.worker.due(tick) for tick in range(21)]
    assert [tick for tick, own in enumerate(due) if SLOW in own] == [0, 10, 20]
    assert all(FAST in own for own in due)


def test_ticks_that_were_missed_are_made_up_once(bench: Bench) -> None:
    due = {tick: bench.worker.due(tick) for tick in (0, 13, 14, 19, 20)}
    assert [tick for tick, own in due.items() if SLOW in own] == [0, 13, 20]


def test_before_the_first_reading_nothing_is_said(bench: Bench) -> None:
    assert bench.worker.success is None


def test_a_reading_that_raises_fails_what_was_known(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.read()
    bench.fake.error = CollectorError("diskstats: no such line")
    for failures in (1, 2):
        found = bench.read(frozenset({FAST}))
        assert found is not None
        assert [(m.signal, m.entity, m.outcome) for m in found] == [(FAST, ENTITY, Outcome.FAILED)]
        assert (bench.worker.success, bench.worker.failures) == (False, failures)
    assert len(caplog.records) == 1
    bench.fake.error = None
    bench.read()
    assert bench.worker.success


def test_a_bug_of_a_collector_is_a_failed_reading(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.fake.error = IndexError("list index out of range")
    assert bench.read() == []
    assert bench.worker.failures == 1
    assert "collector fake has a bug" in caplog.text


def test_a_signal_that_was_not_declared_is_a_failed_reading(bench: Bench) -> None:
    bench.fake.extra = [Measurement("node_up", "node/n7", 1.0)]
    bench.read()
    assert (bench.worker.success, bench.worker.failures) == (False, 1)


def test_a_hung_reading_is_counted_and_not_started_twice(bench: Bench) -> None:
    bench.read()
    bench.fake.gate.clear()
    due = frozenset({FAST})
    assert bench.worker.begin(due) == []
    until(lambda: bench.fake.reads == 2)
    bench.clock.seconds += 3.5
    assert bench.worker.left_seconds() < 0
    assert [m.outcome for m in bench.worker.expire()] == [Outcome.FAILED]
    assert bench.worker.duration_seconds == 3.5
    for failures in (2, 3):
        assert [m.outcome for m in bench.worker.begin(due)] == [Outcome.FAILED]
        assert bench.worker.failures == failures
    assert bench.fake.reads == 2


def test_a_reading_within_its_deadline_is_left_to_end(bench: Bench) -> None:
    bench.read()
    bench.fake.gate.clear()
    for _ in range(2):
        assert bench.worker.begin(frozenset({FAST})) == []
    bench.fake.gate.set()
    assert bench.worker.finish(bench.results.get(timeout=30)) is not None
    assert (bench.fake.reads, bench.worker.failures) == (2, 0)


def test_a_result_after_the_deadline_is_not_used_and_the_next_one_is(bench: Bench) -> None:
    bench.read()
    bench.fake.gate.clear()
    bench.worker.begin(frozenset({FAST}))
    bench.worker.expire()
    bench.fake.gate.set()
    assert bench.worker.finish(bench.results.get(timeout=30)) is None
    assert len(bench.read() or []) == 2
    assert bench.worker.success


@pytest.mark.parametrize(("value", "why"), [("warm", "'warm' is no number"), (2.0, "stands twice")])
def test_what_would_spoil_the_shared_frame_costs_only_its_collector(
    bench: Bench, caplog: pytest.LogCaptureFixture, value: object, why: str
) -> None:
    bench.fake.extra = [Measurement(FAST, ENTITY, value)]  # type: ignore[arg-type]
    assert bench.read() == []
    assert bench.worker.failures == 1
    assert why in caplog.text


def test_where_a_collector_breaks_is_told_once_per_change(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    for error in (KeyError("a"), KeyError("a"), KeyError("b")):
        bench.fake.error = error
        bench.read()
    assert caplog.text.count("collector fake has a bug") == 2
