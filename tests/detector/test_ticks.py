"""When a tick closes, and where late frames go."""

from tests.detector.feed import Bench, event, frame

CPU = {("node_cpu_utilization_ratio", "node/n1"): 0.5}


def _closed(bench: Bench) -> float:
    return bench.metric("forewarn_ticks_total")


def _both(bench: Bench, seconds: range, nodes: tuple[str, ...] = ("n1", "n2")) -> None:
    for second in seconds:
        for node in nodes:
            bench.one(second, {("node_cpu_utilization_ratio", f"node/{node}"): 0.5}, node=node)


def test_first_tick_waits_until_its_nodes_have_moved_on():
    bench = Bench()
    _both(bench, range(1))
    assert _closed(bench) == 0
    _both(bench, range(1, 2))
    assert _closed(bench) == 2


def test_tick_closes_when_the_last_live_node_reports():
    bench = Bench()
    _both(bench, range(4))
    before = _closed(bench)
    bench.one(4, CPU, node="n1")
    assert _closed(bench) == before
    bench.one(4, {("node_cpu_utilization_ratio", "node/n2"): 0.5}, node="n2")
    assert _closed(bench) == before + 1


def test_tick_without_a_node_closes_half_a_second_after_the_median():
    bench = Bench()
    _both(bench, range(4))
    before = _closed(bench)
    bench.one(4.0, CPU, node="n1")
    late = bench.frame(frame(4.9, CPU, seq=99), delay=0.0)
    bench.feed(late)
    assert _closed(bench) == before + 1


def test_late_frame_updates_its_series_and_is_counted():
    bench = Bench()
    _both(bench, range(4))
    bench.one(4, CPU, node="n1")
    bench.one(5, CPU, node="n1")
    bench.one(6, CPU, node="n1")
    late = frame(4, {("node_cpu_utilization_ratio", "node/n2"): 0.75}, node="n2", seq=5)
    bench.feed(bench.frame(late, delay=2.5))
    bench.engine.flush()
    assert bench.metric("forewarn_frames_late_total") == 1
    slot = bench.engine.series.find("node_cpu_utilization_ratio", "node/n2")
    assert slot is not None
    assert bench.engine.series.value(slot)[0] == 0.75


def test_event_of_a_second_does_not_close_it_before_its_nodes_report():
    """An event is appended at once, frames of the same second up to a second later."""
    bench = Bench()
    _both(bench, range(4))
    before = _closed(bench)
    bench.event(event(4.05, "job/a", "job.state:running"))
    bench.one(4.7, CPU, node="n1")
    assert _closed(bench) == before
    bench.one(4.9, {("node_cpu_utilization_ratio", "node/n2"): 0.5}, node="n2")
    assert _closed(bench) == before + 1
    assert bench.metric("forewarn_frames_late_total") == 0


def test_jobs_without_any_node_have_ticks_too():
    bench = Bench()
    for second in range(6):
        bench.one(second, {("job_loss", "job/a"): 2.0}, topic="jobs", source="reporter:a")
    assert _closed(bench) >= 3


def test_slow_collector_with_a_stream_of_its_own_is_not_waited_for():
    bench = Bench()
    slow = {("node_power_watts", "node/n1"): 800.0}
    for second in range(26):
        if second % 10 == 0:
            bench.one(second, slow, source="agent/bmc")
        bench.one(second, CPU)
    assert _closed(bench) == 26
