"""Records to bytes and back. What cannot be read is a `WireError` with a reason, never a guess.

Evolution: fields are only added; `version` rises when an old reader would misread a record, and a
reader refuses what is newer than it (`newer_version`). Old frames are kept as fixtures.
"""

import io
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
from google.protobuf.message import DecodeError, Message
from google.protobuf.proto import parse_length_prefixed, serialize_length_prefixed

from forewarn import codes
from forewarn import entity as entities
from forewarn import wire_pb2 as pb
from forewarn.bus import TOPICS
from forewarn.bus import Message as BusMessage
from forewarn.catalogue import CATALOGUE
from forewarn.errors import EntityError, ForewarnError, WireError
from forewarn.records import (
    SEVERITIES,
    DeadLetter,
    Event,
    Finding,
    Frame,
    InventoryItem,
    Layout,
    Mark,
    Placement,
    Reading,
    Severity,
)

VERSION = 1
MAX_POSITIONS = 20_000
REASONS = frozenset(
    {"truncated", "newer_version", "no_version", "bad_layout", "bad_size", "bad_value",
     "unknown_signal", "bad_entity", "missing_field"}
)  # fmt: skip
_M = TypeVar("_M", bound=Message)


def _parse(cls: Callable[[], _M], data: bytes) -> _M:
    message = cls()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise WireError("truncated", f"{message.DESCRIPTOR.name}: {error}") from error
    _check_version(message)
    return message


def _check_version(message: Message) -> None:
    version = message.version  # type: ignore[attr-defined]
    if version > VERSION:
        text = f"{message.DESCRIPTOR.name}: wire version {version} is newer than {VERSION}; upgrade"
        raise WireError("newer_version", text)
    if version == 0:
        raise WireError("no_version", f"{message.DESCRIPTOR.name}: no wire version in the record")


def _need(message: Message, *fields: str) -> None:
    for field in fields:
        if not getattr(message, field):
            raise WireError("missing_field", f"{message.DESCRIPTOR.name}: {field} is missing")


def _entity(text: str) -> str:
    try:
        return entities.check(text)
    except EntityError as error:
        raise WireError("bad_entity", str(error)) from error


def encode_layout(layout: Layout) -> bytes:
    """Serialise a layout; the same layout gives the same bytes."""
    message = pb.Layout(
        version=VERSION,
        signals=layout.signals,
        entities=layout.entities,
        signal_index=layout.signal_index,
        entity_index=layout.entity_index,
    )
    return message.SerializeToString(deterministic=True)


def decode_layout(data: bytes) -> Layout:
    """Read and validate a layout: indices in range, names known, at most 20,000 positions.

    Raises:
        WireError: naming what is wrong.

    """
    message = _parse(pb.Layout, data)
    layout = Layout(
        tuple(message.signals),
        tuple(message.entities),
        tuple(message.signal_index),
        tuple(message.entity_index),
    )
    _check_layout(layout)
    return layout


def _check_layout(layout: Layout) -> None:
    count = len(layout.signal_index)
    if count != len(layout.entity_index):
        raise WireError("bad_layout", "layout: the two index lists differ in length")
    if count > MAX_POSITIONS:
        text = f"layout: {count} positions, at most {MAX_POSITIONS} a node are taken"
        raise WireError("bad_layout", text)
    if max(layout.signal_index, default=-1) >= len(layout.signals):
        raise WireError("bad_layout", "layout: a signal index is out of range")
    if max(layout.entity_index, default=-1) >= len(layout.entities):
        raise WireError("bad_layout", "layout: an entity index is out of range")
    for name in layout.signals:
        if name not in CATALOGUE or not CATALOGUE[name].is_metric:
            raise WireError("unknown_signal", f"layout: {name!r} is no metric of the catalogue")
    for own in layout.entities:
        _entity(own)


class LayoutCache:
    """Layouts by their very bytes: decoded and validated once, the latest `size` are kept."""

    def __init__(self, size: int = 65_536) -> None:
        self._size = size
        self._layouts: OrderedDict[bytes, Layout] = OrderedDict()

    def get(self, data: bytes) -> Layout:
        """Return the layout that `data` serialises. Raises WireError."""
        layout = self._layouts.get(data)
        if layout is None:
            layout = self._layouts[data] = decode_layout(data)
            if len(self._layouts) > self._size:
                self._layouts.popitem(last=False)
        return layout


def encode_frame(frame: Frame) -> bytes:
    """Serialise a frame."""
    return pb.Frame(version=VERSION, **_fields(frame)).SerializeToString()


def decode_frame(data: bytes) -> Frame:
    """Read a frame; its layout is left as bytes (see `LayoutCache`), sizes are checked there.

    Raises:
        WireError: if it is cut, newer, or without a layout.

    """
    m = _parse(pb.Frame, data)
    _need(m, "cluster", "node", "source", "time_unix_nano", "layout")
    if len(m.values) % 8:
        raise WireError("bad_size", f"frame of {m.node}: {len(m.values)} bytes are no float64s")
    return Frame(
        m.cluster, m.node, m.source, m.seq, m.time_unix_nano, m.boot_id,
        m.layout, m.values, m.outcome,
    )  # fmt: skip


def check_size(frame: Frame, positions: int) -> None:
    """Check that a frame holds as many values and outcomes as its layout has positions.

    Raises:
        WireError: with both counts.

    """
    if len(frame.values) != 8 * positions or len(frame.outcome) not in {0, positions}:
        text = (
            f"frame of {frame.node}: {len(frame.values) // 8} values and {len(frame.outcome)} "
            f"outcomes for {positions} positions"
        )
        raise WireError("bad_size", text)


def encode_event(event: Event) -> bytes:
    """Serialise an event."""
    return pb.Event(version=VERSION, **_fields(event)).SerializeToString()


def decode_event(data: bytes) -> Event:
    """Read an event. Raises WireError."""
    m = _parse(pb.Event, data)
    _need(m, "cluster", "entity", "code", "severity", "time_unix_nano")
    return Event(
        m.cluster, _entity(m.entity), _code(m.code, m.entity), m.time_unix_nano,
        _severity(m.severity), m.text, m.node, m.source, m.boot_id, m.seq,
    )  # fmt: skip


def _code(text: str, entity: str) -> str:
    """Return a code as it was sent, once it is sure to be one for every reader."""
    try:
        codes.normal(text)
    except ForewarnError as error:
        raise WireError("bad_value", f"event of {entity}: {error}") from error
    return text


def encode_inventory(item: InventoryItem) -> bytes:
    """Serialise an inventory item; the same item gives the same bytes."""
    message = pb.InventoryItem(
        version=VERSION,
        cluster=item.cluster,
        entity=item.entity,
        time_unix_nano=item.time_unix_nano,
        attributes=item.attributes,
        collects={source: pb.Signals(names=names) for source, names in item.collects.items()},
        unsupported=item.unsupported,
        removed=item.removed,
    )
    if item.placement is not None:
        message.placement.CopyFrom(pb.Placement(**_fields(item.placement)))
    return message.SerializeToString(deterministic=True)


def decode_inventory(data: bytes) -> InventoryItem:
    """Read an inventory item. Raises WireError."""
    m = _parse(pb.InventoryItem, data)
    _need(m, "cluster", "entity", "time_unix_nano")
    return InventoryItem(
        cluster=m.cluster,
        entity=_entity(m.entity),
        time_unix_nano=m.time_unix_nano,
        attributes=dict(m.attributes),
        collects={source: tuple(own.names) for source, own in m.collects.items()},
        unsupported=tuple(m.unsupported),
        placement=_placement(m.placement) if m.HasField("placement") else None,
        removed=m.removed,
    )


def _placement(m: Any) -> Placement:
    return Placement(
        job=m.job,
        rank=m.rank,
        node=m.node,
        devices=tuple(m.devices),
        stage=m.stage if m.HasField("stage") else None,
        tensor=m.tensor if m.HasField("tensor") else None,
        since_unix_nano=m.since_unix_nano,
    )


def encode_finding(finding: Finding) -> bytes:
    """Serialise a finding. Raises ValueError if `observed` is not finite: `value_class` says so."""
    if finding.observed is not None and not math.isfinite(finding.observed):
        raise ValueError(f"finding {finding.id}: observed must be finite or None")
    fields = _fields(finding)
    readings = [pb.Reading(**_fields(reading)) for reading in fields.pop("readings", ())]
    return pb.Finding(version=VERSION, readings=readings, **fields).SerializeToString()


def decode_finding(data: bytes) -> Finding:
    """Read a finding; a family or movement outside the closed lists is refused.

    Raises:
        WireError: naming what is wrong.

    """
    m = _parse(pb.Finding, data)
    _need(m, "id", "cluster", "entity", "signal", "family", "movement", "opened_at_unix_nano")
    raw = {field.name: value for field, value in m.ListFields() if field.name != "version"}
    raw["readings"] = [Reading(r.signal, r.entity, r.value, r.time_unix_nano) for r in m.readings]
    raw["entity"] = _entity(m.entity)
    if not math.isfinite(m.observed):
        raise WireError("bad_value", f"finding {m.id}: observed is not finite")
    try:
        return msgspec.convert(raw, Finding)
    except msgspec.ValidationError as error:
        raise WireError("bad_value", f"finding {m.id}: {error}") from error


def encode_deadletter(letter: DeadLetter) -> bytes:
    """Serialise a dead letter."""
    return pb.DeadLetter(version=VERSION, **_fields(letter)).SerializeToString()


def decode_deadletter(data: bytes) -> DeadLetter:
    """Read a dead letter. Raises WireError."""
    m = _parse(pb.DeadLetter, data)
    return DeadLetter(
        m.reason, m.message, m.source, m.topic, m.partition, m.offset, m.time_unix_nano, m.payload
    )


def encode_recorded(entries: Iterable[BusMessage | Mark]) -> bytes:
    """Serialise entries of a recording, each behind its length as a varint."""
    out = io.BytesIO()
    for entry in entries:
        message = _mark(entry) if isinstance(entry, Mark) else _recorded(entry)
        serialize_length_prefixed(message, out)
    return out.getvalue()


def _mark(mark: Mark) -> pb.Recorded:
    return pb.Recorded(version=VERSION, mark=pb.Mark(**_fields(mark)))


def _recorded(message: BusMessage) -> pb.Recorded:
    return pb.Recorded(
        version=VERSION,
        topic=message.topic,
        key=message.key,
        partition=message.partition,
        offset=message.offset,
        append_time_unix_nano=message.append_time_unix_nano,
        value=message.value,
        headers=[pb.Header(name=name, value=value) for name, value in message.headers],
    )


def decode_recorded(data: bytes) -> list[BusMessage | Mark]:
    """Read the entries of a recording that `encode_recorded` gave. Raises WireError."""
    inside, entries = io.BytesIO(data), []
    try:
        while (message := parse_length_prefixed(pb.Recorded, inside)) is not None:
            _check_version(message)
            entries.append(_entry(message))
    except (DecodeError, ValueError) as error:
        raise WireError("truncated", f"Recorded: {error}") from error
    return entries


def _entry(m: Any) -> BusMessage | Mark:
    if m.HasField("mark"):
        return Mark(m.mark.cluster, m.mark.time_unix_nano, m.mark.end, m.mark.messages)
    if m.topic not in TOPICS:
        raise WireError("bad_value", f"Recorded: unknown topic {m.topic!r}")
    headers = tuple((header.name, header.value) for header in m.headers)
    return BusMessage(
        m.topic, m.key, m.value, m.partition, m.offset, m.append_time_unix_nano, headers
    )


def _fields(record: msgspec.Struct) -> dict[str, Any]:
    """Return the fields that are set: protobuf takes no None."""
    names: Iterable[str] = record.__struct_fields__
    pairs = ((name, getattr(record, name)) for name in names)
    return {name: value for name, value in pairs if value is not None}


def _severity(text: str) -> Severity:
    for severity in SEVERITIES:
        if severity == text:
            return severity
    raise WireError("bad_value", f"severity {text!r} is none of {', '.join(SEVERITIES)}")
