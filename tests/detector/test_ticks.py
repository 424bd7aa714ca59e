"""When a tick closes, and where late frames go."""

import msgspec

from detector import ticks
from forewarn import wire
from forewarn.records import NANOSECONDS
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
    for second in range(7):
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


def _caught_up(bench: Bench, node: str, seconds: range, appended: float) -> None:
    """Feed a node's frames of some seconds, all appended at once."""
    for second in seconds:
        own = frame(second, {("node_cpu_utilization_ratio", f"node/{node}"): 0.5}, node=node,
                    seq=1000 + second)  # fmt: skip
        bench.feed(bench.frame(own, delay=appended - second))


def test_backlog_waits_for_the_partition_that_is_caught_up_later():
    bench = Bench()
    _both(bench, range(4))
    _caught_up(bench, "n1", range(4, 60), 60.0)
    assert _closed(bench) == 4
    _caught_up(bench, "n2", range(4, 60), 85.0)
    assert _closed(bench) == 4
    bench.event(event(90.2, "node/n1", "node.boot_id:changed"))
    assert _closed(bench) == 61
    assert bench.metric("forewarn_frames_late_total") == 0


def test_backlog_waits_thirty_seconds_for_a_node_that_is_gone_and_once():
    bench = Bench()
    _both(bench, range(4))
    _caught_up(bench, "n1", range(4, 60), 60.0)
    for second in range(60, 89):
        bench.one(second, CPU, node="n1")
    assert _closed(bench) == 4
    bench.one(90, CPU, node="n1")
    before = _closed(bench)
    assert before >= 88
    bench.one(91, CPU, node="n1")
    assert _closed(bench) == before + 1


def test_fresh_engine_waits_for_nodes_that_it_does_not_know_yet():
    bench = Bench()
    _caught_up(bench, "n1", range(60), 60.0)
    assert _closed(bench) == 0
    _caught_up(bench, "n2", range(60), 70.0)
    bench.event(event(101, "node/n1", "node.boot_id:changed"))
    assert _closed(bench) == 61
    assert bench.metric("forewarn_frames_late_total") == 0


def test_backlog_that_does_not_fit_closes_its_oldest_ticks_as_they_are(monkeypatch):
    bench = Bench()
    _both(bench, range(4))
    monkeypatch.setattr(ticks, "HELD_BYTES", 2000)
    _caught_up(bench, "n1", range(4, 60), 60.0)
    held = 60 - _closed(bench)
    one = len(wire.encode_frame(frame(4, CPU)))
    assert 0 < held * one <= 2000 + one
    _caught_up(bench, "n2", range(4, 60), 61.0)
    bench.engine.flush()
    late = bench.metric("forewarn_frames_late_total")
    assert 0 < late < 56


def test_node_alone_in_its_partition_holds_nobody_up_when_it_dies():
    bench = Bench()
    _both(bench, range(4), ("n1", "n2"))
    own = bench.frame(frame(4, {("node_cpu_utilization_ratio", "node/n3"): 0.5}, node="n3"))
    bench.feed(msgspec.structs.replace(own, partition=3))
    _both(bench, range(4, 5))
    before = _closed(bench)
    _both(bench, range(5, 6))
    bench.feed(bench.frame(frame(5.6, CPU, seq=99), delay=0.1))
    assert _closed(bench) == before + 1


def test_wait_grows_by_the_disorder_that_was_seen():
    disorder = ticks.Disorder()
    for appended in (10, 14, 11, 15):
        disorder.saw(appended * NANOSECONDS)
    assert disorder.reached == 12 * NANOSECONDS
    disorder.saw(80 * NANOSECONDS)
    disorder.saw(150 * NANOSECONDS)
    assert disorder.reached == 150 * NANOSECONDS


def test_late_item_does_not_close_the_tick_that_it_joins():
    """A node whose clock is behind sends nothing but late frames."""
    bench = Bench()
    for second in range(5):
        _both(bench, range(second, second + 1))
        slow = frame(second - 20, {("node_cpu_utilization_ratio", "node/n3"): 0.5}, node="n3",
                     seq=second)  # fmt: skip
        bench.feed(bench.frame(slow, delay=20.2))
    before = _closed(bench)
    bench.feed(bench.frame(frame(5, CPU, seq=50), delay=0.9))
    assert _closed(bench) == before


def test_fleet_that_is_read_once_a_minute_is_waited_for():
    bench = Bench()
    for minute in range(6):
        _both(bench, range(60 * minute, 60 * minute + 1), ("n1", "n2", "n3"))
    before, late = _closed(bench), bench.metric("forewarn_frames_late_total")
    bench.one(360, CPU, node="n1")
    assert _closed(bench) == before
    _both(bench, range(360, 361), ("n2", "n3"))
    assert _closed(bench) == before + 1
    assert bench.metric("forewarn_frames_late_total") == late == 0


def test_slow_node_among_fast_ones_is_not_waited_for():
    bench = Bench()
    for second in range(150):
        if second % 30 == 0:
            bench.one(second, {("node_cpu_utilization_ratio", "node/n3"): 0.5}, node="n3")
        _both(bench, range(second, second + 1))
    before = _closed(bench)
    _both(bench, range(150, 151))
    assert _closed(bench) == before + 1


def _minutes(bench: Bench, minutes: range) -> None:
    for minute in minutes:
        _both(bench, range(60 * minute, 60 * minute + 1), ("n1", "n2", "n3"))


def test_ticks_of_a_slow_fleet_are_as_wide_as_half_its_beat():
    bench = Bench()
    _minutes(bench, range(6))
    before = _closed(bench)
    for minute in range(6, 10):
        _minutes(bench, range(minute, minute + 1))
        for second in range(5, 60, 5):  # what jobs say in between opens no ticks of its own
            bench.event(event(60 * minute + second, "job/a", "job.log_event:seen"))
    assert 4 <= _closed(bench) - before <= 8


def test_gap_of_hours_makes_no_ticks_of_hours():
    bench = Bench()
    _minutes(bench, range(6))
    late = bench.metric("forewarn_frames_late_total")
    _minutes(bench, range(600, 620))
    assert (
        bench.metric("forewarn_frames_late_total") <= late + 2
    )  # of the first minute: nobody knew who would come
