"""What is caught up after an outage, in whatever order, says what it would have said in time."""

from collections.abc import Iterable

import msgspec
import pytest

from forewarn.bus import Message
from forewarn.records import Finding
from simulator import built_in, draw, load, simulate
from tests.detector import backlog
from tests.detector.backlog import Row, caught_up
from tests.detector.feed import Bench

ORDERS = [backlog.whole, backlog.interleaved, backlog.jobs_ahead, backlog.jobs_behind]
every_order = pytest.mark.parametrize("order", ORDERS)


@pytest.fixture(scope="module")
def healthy() -> list[Row]:
    scenario = load(built_in()["demo"])
    return backlog.rows(
        simulate(msgspec.structs.replace(scenario, duration_seconds=300, fault=()), 5)
    )


@pytest.fixture(scope="module")
def sick() -> list[Row]:
    return backlog.rows(simulate(draw(3, duration_seconds=800, nodes=8, faults=2), 3))


@pytest.fixture(scope="module")
def in_time(sick: list[Row]) -> list[Finding]:
    return _detect(message for _, message in sick)


def _detect(messages: Iterable[Message], size: int = 1) -> list[Finding]:
    bench, own = Bench(), list(messages)
    batches = (own[at : at + size] for at in range(0, len(own), size))
    found = [finding for batch in batches for finding in bench.feed(*batch)]
    found += bench.engine.flush()
    return sorted(found, key=lambda f: (f.updated_at_unix_nano, f.id, f.seq))


@every_order
@pytest.mark.parametrize(("begin", "lasting"), [(0, 1.0), (100, 1.0), (100, 25.0)])
def test_backlog_of_a_healthy_cluster_raises_nothing(healthy, order, begin, lasting):
    assert [f.text for f in _detect(caught_up(healthy, begin, 240, order, lasting))] == []


@every_order
def test_backlog_with_a_fault_gives_the_same_findings(sick, in_time, order):
    assert in_time
    assert _detect(caught_up(sick, 400, 520, order, 8.0)) == in_time


@pytest.mark.parametrize("size", [37, 5000])
def test_size_of_a_poll_does_not_matter_when_partitions_are_apart(sick, size):
    assert _detect(backlog.skewed(sick), size) == _detect(backlog.skewed(sick))


def test_partitions_that_are_read_apart_open_the_same_findings(sick, in_time):
    assert {f.id for f in _detect(backlog.skewed(sick))} == {f.id for f in in_time}


def test_jobs_that_lag_behind_their_nodes_do_not_hang(healthy):
    lag = 100 * backlog.NANOSECONDS
    late = (
        msgspec.structs.replace(m, append_time_unix_nano=m.append_time_unix_nano + lag)
        if m.topic == "jobs"
        else m
        for _, m in healthy
    )
    assert _detect(backlog.in_order(late)) == []
