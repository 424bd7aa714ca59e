"""The wire: records survive it, and what cannot be read is a WireError with a reason."""

import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from google.protobuf.proto import serialize_length_prefixed
from hypothesis import given
from hypothesis import strategies as st

from forewarn import wire
from forewarn import wire_pb2 as pb
from forewarn.errors import WireError
from forewarn.records import Event, Finding, Frame, InventoryItem, Layout, Mark
from tests.forewarn.drawn import RECORDS

FIXTURES = Path(__file__).parent / "fixtures/wire"
Coder = tuple[Callable[[Any], bytes], Callable[[bytes], Any]]
CODERS: dict[str, Coder] = {
    "layout": (wire.encode_layout, wire.decode_layout),
    "frame": (wire.encode_frame, wire.decode_frame),
    "event": (wire.encode_event, wire.decode_event),
    "inventory": (wire.encode_inventory, wire.decode_inventory),
    "finding": (wire.encode_finding, wire.decode_finding),
    "deadletter": (wire.encode_deadletter, wire.decode_deadletter),
}
# A recording is many records, each behind its length.
ALL = CODERS | {"recorded": (wire.encode_recorded, wire.decode_recorded)}
MESSAGES = {
    "layout": pb.Layout, "frame": pb.Frame, "event": pb.Event, "inventory": pb.InventoryItem,
    "finding": pb.Finding, "deadletter": pb.DeadLetter,
}  # fmt: skip

LAYOUT = Layout(
    ("gpu_temperature_celsius", "gpu_power_watts"),
    ("node/n7/gpu/0", "node/n7/gpu/1"),
    (0, 1, 0),
    (0, 0, 1),
)


def reason(kind: str, data: bytes) -> str:
    """Return why `data` is refused, or nothing where it is read."""
    try:
        ALL[kind][1](data)
    except WireError as error:
        return error.reason
    return ""


def fixtures() -> list[Path]:
    return sorted(FIXTURES.glob("v*/*.bin"))


SINGLE = [path for path in fixtures() if path.stem != "recorded"]


@pytest.mark.parametrize("kind", ALL)
@given(data=st.data())
def test_record_survives_the_wire(kind: str, data: st.DataObject) -> None:
    encode, decode = ALL[kind]
    record = data.draw(RECORDS[kind])
    assert decode(encode(record)) == record


@pytest.mark.parametrize("kind", ALL)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_record_or_a_wire_error(kind: str, data: bytes) -> None:
    assert reason(kind, data) in wire.REASONS | {""}


@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.stem)
def test_old_record_still_reads_the_same(path: Path) -> None:
    record = ALL[path.stem.split("-")[0]][1](path.read_bytes())
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert json.loads(msgspec.json.encode(record)) == expected


def test_every_kind_of_record_has_an_old_fixture() -> None:
    assert {path.stem.split("-")[0] for path in fixtures()} == set(ALL)


@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.stem)
def test_record_cut_at_any_byte_never_fails_in_another_way(path: Path) -> None:
    whole = path.read_bytes()
    reasons = [reason(path.stem.split("-")[0], whole[:end]) for end in range(len(whole))]
    assert set(reasons) <= wire.REASONS | {""}
    # A cut between two fields looks like the record of an older writer; all others are seen.
    assert reasons.count("truncated") > len(whole) / 2


@pytest.mark.parametrize("kind", CODERS)
def test_newer_version_is_refused(kind: str) -> None:
    data = MESSAGES[kind](version=wire.VERSION + 1).SerializeToString()
    with pytest.raises(WireError, match="is newer than 1; upgrade") as caught:
        CODERS[kind][1](data)
    assert caught.value.reason == "newer_version"


@pytest.mark.parametrize("kind", CODERS)
def test_missing_version_is_refused(kind: str) -> None:
    with pytest.raises(WireError) as caught:
        CODERS[kind][1](b"")
    assert caught.value.reason == "no_version"


@pytest.mark.parametrize("path", SINGLE, ids=lambda path: path.stem)
def test_field_of_a_newer_writer_is_passed_over(path: Path) -> None:
    decode, whole = CODERS[path.stem.split("-")[0]][1], path.read_bytes()
    later = b"\xfa\x7d\x03new"  # field 2015, three bytes
    assert decode(whole + later) == decode(whole)


def test_same_layout_and_inventory_give_the_same_bytes() -> None:
    items = [
        InventoryItem(
            cluster="c", entity="node/n7", time_unix_nano=1, attributes=dict(order)
        )
        for order in ((("rack", "r1"), ("model", "m")), (("model", "m"), ("rack", "r1")))
    ]  # fmt: skip
    assert wire.encode_inventory(items[0]) == wire.encode_inventory(items[1])
    assert wire.encode_layout(LAYOUT) == wire.encode_layout(msgspec.structs.replace(LAYOUT))


BAD_LAYOUTS = {
    "lists differ": ({"entity_index": (0, 0)}, "bad_layout", "differ in length"),
    "signal index": ({"signal_index": (0, 1, 2)}, "bad_layout", "signal index is out of range"),
    "entity index": ({"entity_index": (0, 0, 9)}, "bad_layout", "entity index is out of range"),
    "unknown signal": ({"signals": ("gpu_mood", "gpu_power_watts")}, "unknown_signal", "gpu_mood"),
    "event": ({"signals": ("nvidia.xid", "gpu_power_watts")}, "unknown_signal", "no metric"),
    "bad entity": ({"entities": ("node/n7", "toaster/1")}, "bad_entity", "unknown kind"),
    "too many": (
        {"signal_index": (0,) * 20_001, "entity_index": (0,) * 20_001},
        "bad_layout",
        "20001 positions, at most 20000",
    ),
}


@pytest.mark.parametrize(
    ("change", "reason", "message"), BAD_LAYOUTS.values(), ids=BAD_LAYOUTS.keys()
)
def test_bad_layout_is_refused(change: dict[str, Any], reason: str, message: str) -> None:
    data = wire.encode_layout(msgspec.structs.replace(LAYOUT, **change))
    with pytest.raises(WireError, match=message) as caught:
        wire.decode_layout(data)
    assert caught.value.reason == reason


def test_layout_of_just_the_limit_is_taken() -> None:
    full = msgspec.structs.replace(LAYOUT, signal_index=(0,) * 20_000, entity_index=(1,) * 20_000)
    assert len(wire.decode_layout(wire.encode_layout(full))) == wire.MAX_POSITIONS


def test_layout_names_signal_and_entity_of_each_position() -> None:
    assert LAYOUT.pairs() == [
        ("gpu_temperature_celsius", "node/n7/gpu/0"),
        ("gpu_power_watts", "node/n7/gpu/0"),
        ("gpu_temperature_celsius", "node/n7/gpu/1"),
    ]


def test_cache_decodes_the_same_bytes_once() -> None:
    cache, data = wire.LayoutCache(), wire.encode_layout(LAYOUT)
    assert cache.get(data) is cache.get(bytes(bytearray(data)))


def test_cache_keeps_the_latest_and_forgets_what_was_refused() -> None:
    cache = wire.LayoutCache(size=1)
    first = cache.get(wire.encode_layout(LAYOUT))
    cache.get(wire.encode_layout(msgspec.structs.replace(LAYOUT, entity_index=(1, 1, 1))))
    assert cache.get(wire.encode_layout(LAYOUT)) is not first
    for _ in range(2):
        with pytest.raises(WireError):
            cache.get(b"\xff")


def frame(**change: Any) -> Frame:
    whole = Frame(
        cluster="c", node="n7", source="agent", seq=1, time_unix_nano=1, boot_id="b",
        layout=wire.encode_layout(LAYOUT), values=b"\0" * 24,
    )  # fmt: skip
    return msgspec.structs.replace(whole, **change)


@pytest.mark.parametrize("field", ["cluster", "node", "source", "layout"])
def test_frame_without_a_needed_field_is_refused(field: str) -> None:
    empty = b"" if field == "layout" else ""
    with pytest.raises(WireError, match=f"Frame: {field} is missing") as caught:
        wire.decode_frame(wire.encode_frame(frame(**{field: empty})))
    assert caught.value.reason == "missing_field"


def test_frame_of_broken_floats_is_refused() -> None:
    with pytest.raises(WireError, match="frame of n7: 9 bytes are no float64s") as caught:
        wire.decode_frame(wire.encode_frame(frame(values=b"\0" * 9)))
    assert caught.value.reason == "bad_size"


@pytest.mark.parametrize("change", [{}, {"outcome": b"\0\1\3"}])
def test_frame_as_long_as_its_layout_is_taken(change: dict[str, bytes]) -> None:
    wire.check_size(frame(**change), 3)


@pytest.mark.parametrize("change", [{"values": b"\0" * 16}, {"outcome": b"\0\0"}])
def test_frame_that_differs_from_its_layout_is_refused(change: dict[str, bytes]) -> None:
    with pytest.raises(WireError, match="for 3 positions") as caught:
        wire.check_size(frame(**change), 3)
    assert caught.value.reason == "bad_size"


def finding(**change: Any) -> Finding:
    whole = Finding(
        id="f", cluster="c", entity="node/n7", signal="gpu_power_watts", family="band",
        movement="up", value_class="number", opened_at_unix_nano=1, updated_at_unix_nano=1,
    )  # fmt: skip
    return msgspec.structs.replace(whole, **change)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_finding_with_an_infinite_value_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="finding f: observed must be finite or None"):
        wire.encode_finding(finding(observed=value))


def test_finding_with_an_infinite_value_is_not_read() -> None:
    message = pb.Finding.FromString(wire.encode_finding(finding()))
    message.observed = math.inf
    with pytest.raises(WireError, match="observed is not finite"):
        wire.decode_finding(message.SerializeToString())


@pytest.mark.parametrize("field", ["family", "movement", "value_class", "severity"])
def test_finding_with_a_word_outside_its_list_is_refused(field: str) -> None:
    data = wire.encode_finding(finding(**{field: "guess"}))
    with pytest.raises(WireError, match=f"finding f: .*{field}") as caught:
        wire.decode_finding(data)
    assert caught.value.reason == "bad_value"


def event(**change: Any) -> Event:
    whole = Event(
        cluster="c", entity="node/n7", code="nvidia.xid:79", time_unix_nano=1,
        severity="critical", text="",
    )  # fmt: skip
    return msgspec.structs.replace(whole, **change)


@pytest.mark.parametrize(
    ("change", "reason", "message"),
    [
        ({"code": "79"}, "bad_value", "code '79': expected namespace:code"),
        ({"code": "\x0b:b"}, "bad_value", "expected namespace:code"),
        ({"code": "a:"}, "bad_value", "expected namespace:code"),
        ({"severity": "fatal"}, "bad_value", "severity 'fatal' is none of info, minor"),
        ({"entity": "toaster/1"}, "bad_entity", "unknown kind 'toaster'"),
        ({"code": ""}, "missing_field", "Event: code is missing"),
    ],
)
def test_bad_event_is_refused(change: dict[str, Any], reason: str, message: str) -> None:
    with pytest.raises(WireError, match=message) as caught:
        wire.decode_event(wire.encode_event(event(**change)))
    assert caught.value.reason == reason


def recorded(**fields: Any) -> bytes:
    out = io.BytesIO()
    serialize_length_prefixed(pb.Recorded(**fields), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("fields", "reason", "message"),
    [
        ({"version": 1, "topic": "gossip"}, "bad_value", "Recorded: unknown topic 'gossip'"),
        ({"version": 2, "topic": "frames"}, "newer_version", "version 2 is newer than 1"),
        ({"topic": "frames"}, "no_version", "no wire version"),
    ],
)
def test_bad_entry_of_a_recording_is_refused(
    fields: dict[str, Any], reason: str, message: str
) -> None:
    good = wire.encode_recorded([Mark("c", 1)])
    with pytest.raises(WireError, match=message) as caught:
        wire.decode_recorded(good + recorded(**fields))
    assert caught.value.reason == reason
