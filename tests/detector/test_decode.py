"""Bad frames are refused with a reason, and nothing else stops."""

import math

import pytest

from forewarn import wire
from forewarn import wire_pb2 as pb
from forewarn.records import NANOSECONDS, Frame, Layout
from tests.detector.feed import T0, Bench, frame

NODE, CPU = "node/n1", ("node_cpu_utilization_ratio", "node/n1")
WAIT = ("node_cpu_iowait_ratio", "node/n1")


def _cut(own: Frame) -> bytes:
    return wire.encode_frame(own)[:-9]


def _newer(own: Frame) -> bytes:
    return pb.Frame(version=99, cluster="c").SerializeToString()


def _short(own: Frame) -> bytes:
    return wire.encode_frame(
        Frame("c", "n1", "agent", 9, own.time_unix_nano, "b1", own.layout, b"\0" * 8)
    )


def _unknown(own: Frame) -> bytes:
    layout = pb.Layout(version=1, signals=["gpu_mood"], entities=[NODE])
    layout.signal_index.append(0)
    layout.entity_index.append(0)
    return wire.encode_frame(
        Frame("c", "n1", "agent", 9, own.time_unix_nano, "b1", layout.SerializeToString(), bytes(8))
    )


def _twice(own: Frame) -> bytes:
    layout = wire.encode_layout(Layout((CPU[0],), (NODE,), (0, 0), (0, 0)))
    return wire.encode_frame(
        Frame("c", "n1", "agent", 9, own.time_unix_nano, "b1", layout, bytes(16))
    )


def _late_twice(own: Frame) -> bytes:
    """The repeat stands at the very end: looking for it must not take half a minute."""
    count = wire.MAX_POSITIONS
    entities = [f"node/n1/gpu/{index}" for index in range(count - 1)]
    layout = pb.Layout(version=1, signals=[CPU[0]], entities=entities)
    layout.signal_index.extend([0] * count)
    layout.entity_index.extend([*range(count - 1), count - 2])
    return wire.encode_frame(
        Frame("c", "n1", "agent", 9, own.time_unix_nano, "b1", layout.SerializeToString(),
              bytes(8 * count))
    )  # fmt: skip


def _crowd(own: Frame) -> bytes:
    count = wire.MAX_POSITIONS + 1
    layout = pb.Layout(version=1, signals=[CPU[0]], entities=[NODE])
    layout.signal_index.extend([0] * count)
    layout.entity_index.extend([0] * count)
    return wire.encode_frame(
        Frame("c", "n1", "agent", 9, own.time_unix_nano, "b1", layout.SerializeToString(),
              bytes(8 * count))
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "reason", "says"),
    [
        (_cut, "truncated", "Frame"),
        (_newer, "newer_version", "newer than"),
        (_short, "bad_size", "1 values"),
        (_unknown, "unknown_signal", "gpu_mood"),
        (_twice, "bad_layout", "stands twice"),
        (_late_twice, "bad_layout", "gpu/19998 stands twice"),
        (_crowd, "bad_layout", "20001 positions"),
    ],
)
def test_bad_frame_is_dead_lettered_and_the_rest_goes_on(spoil, reason, says):
    bench = Bench()
    good = {CPU: 0.5, WAIT: 0.1}
    bench.one(0, good)
    bench.feed(bench.message("frames", "n1", spoil(frame(1, good)), 1.1))
    bench.run(range(2, 5), good)
    bench.engine.flush()
    (letter,) = bench.dead()
    assert letter.reason == reason
    assert says in letter.message
    assert bench.metric("forewarn_frames_total", topic="frames") == 4
    assert bench.metric("forewarn_samples_total") == 8


def test_nan_where_it_may_not_be_fails_one_sample_and_is_told_once():
    bench = Bench()
    bench.run(range(5), {CPU: math.nan, WAIT: 0.1})
    bench.engine.flush()
    (letter,) = bench.dead()
    assert letter.reason == "bad_value"
    assert CPU[0] in letter.message
    assert bench.metric("forewarn_samples_failed_total", reason="bad_value") == 5
    assert bench.metric("forewarn_samples_total") == 5


def test_gap_in_sequence_is_counted_as_loss():
    bench = Bench()
    for second, seq in enumerate((1, 2, 5, 6)):
        bench.one(second, {CPU: 0.5}, seq=seq)
    assert bench.metric("forewarn_frames_lost_total") == 2


def test_redelivered_frame_is_ignored_and_counted():
    bench = Bench()
    own = frame(0, {CPU: 0.5}, seq=7)
    bench.feed(bench.frame(own), bench.frame(own))
    bench.engine.flush()
    assert bench.metric("forewarn_frames_duplicate_total") == 1
    assert bench.metric("forewarn_samples_total") == 1


def test_restarted_agent_with_small_sequence_is_no_duplicate():
    bench = Bench()
    bench.one(0, {CPU: 0.5}, seq=900)
    bench.one(1, {CPU: 0.5}, seq=1)
    assert bench.metric("forewarn_frames_duplicate_total") == 0
    assert bench.metric("forewarn_frames_lost_total") == 0


def test_frame_an_hour_ahead_is_taken_at_append_time_and_told():
    bench = Bench()
    ahead = frame(3600, {CPU: 0.5}, node="n2")
    found = bench.feed(bench.message("frames", "n2", wire.encode_frame(ahead), 1.0))
    (own,) = found
    assert (own.entity, own.signal, own.movement) == (
        "node/n2", "node_clock_offset_seconds", "above",
    )  # fmt: skip
    assert own.observed == pytest.approx(3599.0)
    assert own.updated_at_unix_nano == (T0 + 1) * NANOSECONDS
    assert bench.dead() == []
    assert bench.metric("forewarn_frames_ahead_total") == 1


def test_frame_behind_is_backlog_and_no_finding():
    bench = Bench()
    behind = frame(0, {CPU: 0.5})
    found = bench.feed(bench.message("frames", "n1", wire.encode_frame(behind), 3600))
    assert found == []
    assert bench.dead() == []
