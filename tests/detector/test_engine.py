"""Whole runs: what is found, what is not, and that the order of arrival does not matter."""

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from forewarn.bus import Message
from forewarn.catalogue import CATALOGUE, MOVEMENTS
from forewarn.records import NANOSECONDS, Finding, InventoryItem, Placement
from simulator import Scenario, Simulation, built_in, draw, load, simulate
from tests.detector.feed import Bench, event, of_instant, shuffled

Batches = Callable[[list[list[Message]]], Iterator[list[Message]]]


def _seconds(simulation: Simulation) -> list[list[Message]]:
    offsets: Counter[str] = Counter()
    return [of_instant(instant, offsets) for instant in simulation]


def _run(simulation: Simulation) -> list[Finding]:
    bench = Bench()
    return [f for batch in _seconds(simulation) for f in bench.engine.feed(batch)]


def _opened(found: list[Finding]) -> list[Finding]:
    return [f for f in found if f.seq == 1]


def _short() -> Scenario:
    modes = ("thermal_paste", "link_errors", "loss_nan")
    return draw(3, duration_seconds=800, nodes=8, faults=3, modes=modes)


@pytest.fixture(scope="module")
def demo() -> tuple[Simulation, list[Finding]]:
    simulation = simulate(load(built_in()["demo"]), 4)
    return simulation, _run(simulation)


def test_healthy_cluster_raises_nothing():
    found = _run(simulate(load(built_in()["healthy"]), 11))
    assert [f.text for f in found] == []


def test_every_fault_is_found_in_time(demo):
    simulation, found = demo
    first = {"thermal_paste": ("context", "up"), "link_errors": ("counter", "grows"),
             "loss_nan": ("progress", "event")}  # fmt: skip
    for truth in simulation.truth:
        family, movement = first[truth.mode]
        mine = [f for f in _opened(found) if f.entity == truth.entity
                and (f.family, f.movement) == (family, movement)]  # fmt: skip
        delay = (mine[0].opened_at_unix_nano - truth.onset_unix_nano) / NANOSECONDS
        assert 0 < delay < 180, truth.mode


def test_hot_gpu_is_told_before_it_slows_down(demo):
    _, found = demo
    hot = next(f for f in found if f.signal == "gpu_temperature_celsius")
    slow = next(f for f in found if f.signal == "gpu.clock_event")
    assert hot.opened_at_unix_nano < slow.opened_at_unix_nano
    assert (hot.entity, hot.movement) == (slow.entity, "up")


def test_gradient_is_told_before_the_loss_is_nan(demo):
    _, found = demo
    grows = next(f for f in found if f.signal == "job_gradient_norm")
    nan = next(f for f in found if f.code == "job.nan:loss")
    assert grows.opened_at_unix_nano < nan.opened_at_unix_nano


def test_nothing_is_told_of_what_no_fault_touches(demo):
    simulation, found = demo
    jobs = {job.name: set(job.nodes) for job in simulation.scenario.job}
    sick = {truth.entity for truth in simulation.truth}
    gpus = [f for f in found if CATALOGUE[f.signal].entity == "gpu"]
    assert {f.entity for f in gpus} <= sick
    touched = {name for name, nodes in jobs.items() if any(
        entity == f"job/{name}" or entity.split("/")[1] in nodes for entity in sick)}  # fmt: skip
    assert {f.job for f in found if f.job} <= touched


def test_findings_keep_the_rules_of_the_vocabulary(demo):
    _, found = demo
    for own in found:
        row = MOVEMENTS[own.movement]
        assert own.family in row.families
        assert CATALOGUE[own.signal].kind in row.kinds
        assert re.fullmatch("[0-9a-f]{24}", own.id)
        assert (own.observed is None) == (own.value_class != "number")
        assert len(own.readings) <= 64
        assert own.cluster == "c"


def test_seq_counts_the_updates_of_each_finding(demo):
    _, found = demo
    for id_ in {f.id for f in found}:
        assert [f.seq for f in found if f.id == id_] == list(
            range(1, 1 + sum(f.id == id_ for f in found))
        )


def test_order_of_arrival_within_a_second_does_not_matter():
    seconds = _seconds(simulate(_short(), 3))
    plain, mixed = Bench(), Bench()
    one = [f for batch in seconds for f in plain.engine.feed(batch)]
    two = [f for n, batch in enumerate(seconds) for f in mixed.engine.feed(shuffled(batch, n))]
    assert one
    assert _canonical(one) == _canonical(two)


@pytest.mark.parametrize("size", [1, 37, 5000])
def test_size_of_a_poll_does_not_matter(size):
    seconds = _seconds(simulate(_short(), 3))
    messages = [m for batch in seconds for m in batch]
    plain, other = Bench(), Bench()
    one = [f for batch in seconds for f in plain.engine.feed(batch)]
    batches = (messages[at : at + size] for at in range(0, len(messages), size))
    two = [f for batch in batches for f in other.engine.feed(batch)]
    assert _canonical(one) == _canonical(two)


def _canonical(found: list[Finding]) -> list[Finding]:
    return sorted(found, key=lambda f: (f.updated_at_unix_nano, f.id, f.seq))


def test_flush_closes_what_is_open():
    bench = Bench()
    bench.event(event(0, "node/n1/gpu/0000:1a:00.0", "nvidia.xid:79"))
    (closed,) = bench.engine.flush()
    assert closed.closed_at_unix_nano is not None
    assert bench.engine.flush() == []
    assert bench.metric("forewarn_findings_open") == 0


def test_finding_names_the_job_of_its_device():
    bench = Bench()
    gpu = "node/n1/gpu/0000:1a:00.0"
    place = Placement("llm", 0, "node/n1", (gpu,))
    bench.inventory(InventoryItem("c", "job/llm/rank/0", 1_767_600_000 * NANOSECONDS,
                                  placement=place))  # fmt: skip
    (own,) = bench.event(event(1, gpu, "nvidia.xid:79"))
    assert own.job == "llm"


def _hang(job_node: str, nodes: tuple[str, ...]) -> list[Finding]:
    """Return what is found when a job stops after 40 s and only some nodes go on."""
    bench = Bench()
    found: list[Finding] = []
    for second in range(160):
        for node in nodes if second >= 40 else {job_node, *nodes}:
            key = ("node_cpu_utilization_ratio", f"node/{node}")
            found += bench.one(second, {key: 0.5}, node=node)
        if second < 40:
            values = {("job_step_seconds", "job/a"): 1.0}
            found += bench.one(second, values, topic="jobs", node=job_node, source="reporter:a")
    return found


def test_job_that_stops_while_its_node_lives_hangs():
    (own,) = _hang("n1", ("n1", "n2"))[:1]
    assert (own.entity, own.signal) == ("job/a", "job_last_step_age_seconds")


def test_job_whose_node_is_not_heard_of_does_not_hang_by_the_time_of_others():
    assert {(f.entity, f.signal) for f in _hang("n1", ("n2",))} == {
        ("node/n1/agent/main", "agent_up")
    }


def test_broken_bytes_on_every_topic_are_dead_lettered():
    bench = Bench()
    for topic in ("frames", "jobs", "events", "inventory"):
        bench.feed(bench.message(topic, "k", b"\xff\xff\xff", 1.0))
    assert {letter.topic for letter in bench.dead()} == {"frames", "jobs", "events", "inventory"}


def test_metrics_count_what_was_taken():
    bench = Bench()
    for batch in _seconds(simulate(_short(), 3)):
        bench.engine.feed(batch)
    bench.engine.flush()
    assert bench.metric("forewarn_frames_total", topic="frames") > 3000
    assert bench.metric("forewarn_frames_total", topic="jobs") > 100
    assert bench.metric("forewarn_series") == len(bench.engine.series)
    assert bench.metric("forewarn_series_ready_ratio") > 0.9
