"""What travels on the bus: Frame, Event, InventoryItem, Finding, DeadLetter.

Times are integer nanoseconds since the Unix epoch, fields named `..._unix_nano`. Every record names
its `cluster`. The incident is decide's own and stands in `forewarn.incident`.
"""

from enum import IntEnum
from typing import Literal

import msgspec

from forewarn.catalogue.movements import Family, Movement

NANOSECONDS = 1_000_000_000
Severity = Literal["info", "minor", "major", "critical"]
SEVERITIES: tuple[Severity, ...] = ("info", "minor", "major", "critical")
ValueClass = Literal["number", "nan", "+inf", "-inf", "code"]


class Outcome(IntEnum):
    """What became of one reading. Absence is not health: the four are never folded together."""

    OK = 0
    NOT_DUE = 1
    UNSUPPORTED = 2
    FAILED = 3


class Layout(msgspec.Struct, frozen=True):
    """What stands at each position of a frame: signal and entity, as indices into two lists."""

    signals: tuple[str, ...]
    entities: tuple[str, ...]
    signal_index: tuple[int, ...]
    entity_index: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.signal_index)

    def pairs(self) -> list[tuple[str, str]]:
        """Return (signal, entity) of every position."""
        both = zip(self.signal_index, self.entity_index, strict=True)
        return [(self.signals[s], self.entities[e]) for s, e in both]


class Frame(msgspec.Struct, frozen=True):
    """One node (or job) at one instant: the readings of the collectors that were due.

    `layout` is a serialised Layout, and receivers cache by those very bytes; `values` are
    little-endian float64, one a position; `outcome` one byte a position (`Outcome`), or empty when
    all are OK. `seq` counts the frames of (node, source): a gap is a loss. The time is the start
    of reading on the agent's clock.
    """

    cluster: str
    node: str
    source: str
    seq: int
    time_unix_nano: int
    boot_id: str
    layout: bytes
    values: bytes
    outcome: bytes = b""


class Event(msgspec.Struct, frozen=True):
    """Something that happened at one instant, with a code `namespace:code`.

    `text` is at most 2 kB with secrets masked at the agent; `boot_id` and `seq` are the cursor of
    its source (the kernel log's sequence, say), so that a second reading is recognised.
    """

    cluster: str
    entity: str
    code: str
    time_unix_nano: int
    severity: Severity
    text: str
    node: str = ""
    source: str = ""
    boot_id: str = ""
    seq: int = 0


class Placement(msgspec.Struct, frozen=True):
    """Where a rank of a job runs; `devices` are entities, `stage` and `tensor` its position."""

    job: str
    rank: int
    node: str
    devices: tuple[str, ...] = ()
    stage: int | None = None
    tensor: int | None = None
    since_unix_nano: int = 0


class InventoryItem(msgspec.Struct, frozen=True):
    """What is known of one entity.

    `attributes`: vendor, model, serial, uuid, pci, driver, rack, switch, feed, loop, domain …;
    `collects`: by source, the signals it reads for this entity (what is not here is *not
    collected*, and its absence says nothing); `unsupported`: signals the device cannot give;
    `placement`: on a rank, where it runs. `removed` ends the entity.
    """

    cluster: str
    entity: str
    time_unix_nano: int
    attributes: dict[str, str] = {}
    collects: dict[str, tuple[str, ...]] = {}
    unsupported: tuple[str, ...] = ()
    placement: Placement | None = None
    removed: bool = False


class Reading(msgspec.Struct, frozen=True):
    """A latest value beside a finding: what conditions (`above 95`) are tested on."""

    signal: str
    entity: str
    value: float
    time_unix_nano: int


class Finding(msgspec.Struct, frozen=True):
    """One signal of one entity is wrong in one way, from `opened` to `closed`.

    The id is the same on every path: hash of cluster, entity, signal, family and the tick of
    opening. `seq` counts its updates from 1. `observed` is None unless `value_class` is "number".
    `surprise` is -log10 p, at most 300; `effect` the distance from the expected in floors (the
    smallest change worth telling). `readings` are the latest values around it. `learned` says that
    it rests on what was learned, not on a rule; `per_day` is how many a day healthy history shows
    of its class that are as strong, None where that is not known (yet).
    """

    id: str
    cluster: str
    entity: str
    signal: str
    family: Family
    movement: Movement
    value_class: ValueClass
    opened_at_unix_nano: int
    updated_at_unix_nano: int
    seq: int = 1
    code: str = ""
    closed_at_unix_nano: int | None = None
    observed: float | None = None
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    surprise: float = 0.0
    effect: float = 0.0
    severity: Severity = "minor"
    text: str = ""
    job: str = ""
    model_id: str = ""
    clock_uncertainty_seconds: float = 0.0
    readings: tuple[Reading, ...] = ()
    learned: bool = False
    per_day: float | None = None


class DeadLetter(msgspec.Struct, frozen=True):
    """Bytes that could not be used, where they stood, and why; `payload` is at most 64 kB."""

    reason: str
    message: str
    source: str
    topic: str
    partition: int
    offset: int
    time_unix_nano: int
    payload: bytes


class Mark(msgspec.Struct, frozen=True):
    """The first or, with `end`, the last entry of a recording; `messages` counts those between."""

    cluster: str
    time_unix_nano: int
    end: bool = False
    messages: int = 0
