from array import array

from exporters.collector import Measurement, failed
from exporters.framing import Framer, layout
from forewarn import wire
from forewarn.records import Outcome

A, B = "node/n7/disk/a", "node/n7/disk/b"


def measurements(*values: float) -> list[Measurement]:
    keys = (("disk_io_seconds_total", A), ("disk_io_seconds_total", B), ("nic_link_up", "x/1"))
    return [Measurement(s, e, v) for (s, e), v in zip(keys, values, strict=False)]


def test_a_layout_names_each_signal_and_entity_once() -> None:
    own = layout((("s1", "e1"), ("s1", "e2"), ("s2", "e1")))
    assert (own.signals, own.entities) == (("s1", "s2"), ("e1", "e2"))
    assert own.pairs() == [("s1", "e1"), ("s1", "e2"), ("s2", "e1")]


def test_a_frame_survives_the_wire() -> None:
    frame = Framer("c1", "n7", "b1").frame("agent", 5, measurements(1.5, 2.5))
    got = wire.decode_frame(wire.encode_frame(frame))
    pairs = wire.LayoutCache().get(got.layout).pairs()
    wire.check_size(got, len(pairs))
    assert pairs == [("disk_io_seconds_total", A), ("disk_io_seconds_total", B)]
    assert array("d", got.values).tolist() == [1.5, 2.5]
    assert (got.time_unix_nano, got.boot_id, got.outcome) == (5, "b1", b"")


def test_layout_bytes_are_reused_while_the_set_is_unchanged() -> None:
    own = Framer("c1", "n7", "b1")
    first, second, other = (own.frame("agent", 1, m) for m in (
        measurements(1.0, 2.0), measurements(3.0, 4.0), measurements(1.0)))  # fmt: skip
    assert first.layout is second.layout
    assert other.layout != first.layout


def test_seq_counts_per_source() -> None:
    own = Framer("c1", "n7", "b1")
    sources = ["agent", "reporter:1", "agent"]
    assert [own.frame(source, 1, measurements(1.0)).seq for source in sources] == [1, 1, 2]


def test_outcomes_are_one_byte_each() -> None:
    frame = Framer("c1", "n7", "b1").frame(
        "agent", 1, [*measurements(1.0), failed("disk_io_seconds_total", B)]
    )
    assert frame.outcome == bytes([Outcome.OK, Outcome.FAILED])
