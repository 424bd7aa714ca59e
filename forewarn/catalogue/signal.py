"""One row of the catalogue, typed."""

import re
from enum import StrEnum

import msgspec

from forewarn.language import Text

UNKNOWN = "unknown"  # layer of signals that only a stranger's table has


class Kind(StrEnum):
    """What a series of the signal is made of."""

    GAUGE = "gauge"
    COUNTER = "counter"
    STATE = "state"
    EVENT = "event"


class Bad(StrEnum):
    """Which side of the signal is the bad one."""

    HIGH = "high"
    LOW = "low"
    BOTH = "both"
    ANY_INCREASE = "any_increase"
    CHANGE = "change"
    NONZERO = "nonzero"
    NONE = "none"


_FLOOR = re.compile(r"(?P<number>-?\d+(?:\.\d+)?)(?P<rate>/s)?|device:(?P<device>[a-z0-9_]+)")


class Floor(msgspec.Struct, frozen=True):
    """The limit that stands beside every learned band, in the signal's unit.

    One of: a number; a number per second (limit on a counter's rate); the name of the signal of
    the same entity that holds the device's own limit.
    """

    number: float | None = None
    per_second: bool = False
    device: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Floor | None":
        """Read the catalogue's spelling; empty is no floor. Raises ValueError."""
        if not text:
            return None
        match = _FLOOR.fullmatch(text)
        if match is None:
            raise ValueError(f"floor {text!r} is no number, number/s or device:signal")
        if match["device"]:
            return cls(device=match["device"])
        return cls(number=float(match["number"]), per_second=bool(match["rate"]))


class Signal(msgspec.Struct, frozen=True):
    """A signal: what it is called, where it lives, what is bad about it.

    `period_seconds` is the closest spacing of its samples; `context` the signals that explain its
    level; `peers` the groups whose members should agree on it; `saturates_at` the value at which
    a narrow hardware counter stops.
    """

    name: str
    aliases: tuple[str, ...]
    number: str
    kind: Kind
    layer: str
    entity: str
    unit: str
    period_seconds: int
    bad: Bad
    floor: Floor | None
    quantum: float | None
    may_be_nan: bool
    saturates_at: float | None
    context: tuple[str, ...]
    peers: tuple[str, ...]
    otel: str
    help: Text

    @property
    def is_metric(self) -> bool:
        """Say whether it has numeric samples (all kinds but events)."""
        return self.kind is not Kind.EVENT


def plain_gauge(name: str) -> Signal:
    """Return what is assumed of a gauge of which nothing but the name is known."""
    return Signal(
        name=name, aliases=(), number="", kind=Kind.GAUGE, layer=UNKNOWN, entity="node",
        unit="none", period_seconds=60, bad=Bad.BOTH, floor=None, quantum=None, may_be_nan=False,
        saturates_at=None, context=(), peers=(), otel="", help=Text(en=name, zh=name),
    )  # fmt: skip
