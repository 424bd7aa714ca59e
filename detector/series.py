"""Where every series keeps its latest state: blocks of 32,768 slots, arrays and nothing else.

A slot is one (signal, entity). The series of a layout that are new get neighbouring slots in one
block, so that a wave of frames touches memory in order. Raw values and times are float64 (a
counter's deltas are taken there), everything else is float32 or smaller.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forewarn.catalogue import CATALOGUE, Kind, Signal

BLOCK = 32_768
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Ints = NDArray[np.int64]
Rows = slice | Ints
SIGNALS: list[Signal] = list(CATALOGUE.values())
CLASS = {signal.name: number for number, signal in enumerate(SIGNALS)}


def admit(names: Iterable[str]) -> None:
    """Take unknown signals as plain gauges, for this process; engines made before do not know them.

    For replays of strangers' tables only: live, a signal that nobody described is refused.
    """
    for name in names:
        if name not in CLASS:
            CLASS[name] = len(SIGNALS)
            SIGNALS.append(CATALOGUE.admit(name))


# Factories of one block's arrays, for the fields of state dataclasses.
def _full(kind: type, fill: float = 0) -> Callable[[], NDArray[Any]]:
    return lambda: np.full(BLOCK, fill, kind)


floats, doubles, flags = _full(np.float32), _full(np.float64), _full(np.bool_)
unknown_floats, unknown_doubles = _full(np.float32, np.nan), _full(np.float64, np.nan)
high_floats, high_doubles = _full(np.float32, np.inf), _full(np.float64, np.inf)
low_floats, low_doubles = _full(np.float32, -np.inf), _full(np.float64, -np.inf)
registers, small, signs = _full(np.uint32), _full(np.uint8), _full(np.int8)
classes, integers = _full(np.int16), _full(np.int64)


def snapshot(state: Any, used: int) -> dict[str, NDArray[Any]]:
    """Copy the used part of every array of a state dataclass."""
    arrays = {own.name: getattr(state, own.name) for own in fields(state)}
    return {name: a[:used].copy() for name, a in arrays.items() if isinstance(a, np.ndarray)}


def restore(state: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a snapshot back, in place."""
    for name, own in arrays.items():
        getattr(state, name)[: len(own)] = own


@dataclass(slots=True, eq=False)
class Block:
    """State of up to 32,768 series that every family needs; families keep their own beside it."""

    number: int
    used: int = 0
    names: list[str] = field(default_factory=list)  # entity of each slot
    raw: F64 = field(default_factory=doubles)
    time: F64 = field(
        default_factory=unknown_doubles
    )  # seconds since the epoch of the last good sample
    latest: F32 = field(default_factory=unknown_floats)  # last value; a counter's rate per second
    quiet_until: F64 = field(
        default_factory=low_doubles
    )  # no verdicts and no learning before this time
    loaded: Bool = field(default_factory=flags)  # a job runs on the entity
    counter: Bool = field(default_factory=flags)
    may_be_nan: Bool = field(default_factory=flags)
    saturates: F64 = field(default_factory=high_doubles)
    klass: NDArray[np.int16] = field(default_factory=classes)

    def add(self, name: str, entity: str) -> int:
        """Take the next slot for a series; returns its local number."""
        local, self.used = self.used, self.used + 1
        signal = CATALOGUE[name]
        self.names.append(entity)
        self.klass[local] = CLASS[name]
        self.counter[local] = signal.kind is Kind.COUNTER
        self.may_be_nan[local] = signal.may_be_nan
        if signal.saturates_at is not None:
            self.saturates[local] = signal.saturates_at
        return local

    def signal(self, local: int) -> Signal:
        """Return the catalogue's row of a slot."""
        return SIGNALS[int(self.klass[local])]

    def entity(self, local: int) -> str:
        """Return the entity of a slot."""
        return self.names[local]


class _Slots(NamedTuple):
    """The series of one entity, as parallel arrays: a dict would cost six times the memory."""

    classes: "array[int]"
    slots: "array[int]"


class Series:
    """All blocks, and where each series stands in them. A slot's number is block * BLOCK + local.

    `version` rises with every new series: what is derived from the index watches it.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.version = 0
        self._slots: dict[str, _Slots] = {}
        self._roots: dict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return sum(block.used for block in self.blocks)

    def find(self, name: str, entity: str) -> int | None:
        """Return the slot of a series, if it was ever seen."""
        own = self._slots.get(entity)
        klass = CLASS[name]
        return own.slots[own.classes.index(klass)] if own and klass in own.classes else None

    def place(self, pairs: Sequence[tuple[str, str]]) -> Ints:
        """Return the slots of (signal, entity) pairs; new series get neighbouring slots."""
        new = sum(self.find(name, entity) is None for name, entity in pairs)
        if new and (not self.blocks or self.blocks[-1].used + new > BLOCK):
            self.blocks.append(Block(len(self.blocks)))
        return np.array([self._slot(name, entity) for name, entity in pairs], np.int64)

    def _slot(self, name: str, entity: str) -> int:
        known = self.find(name, entity)
        if known is not None:
            return known
        block = self.blocks[-1]
        slot = block.number * BLOCK + block.add(name, entity)
        own = self._slots.setdefault(entity, _Slots(array("h"), array("i")))
        own.classes.append(CLASS[name])
        own.slots.append(slot)
        self._roots["/".join(entity.split("/")[:2])].add(entity)
        self.version += 1
        return slot

    def entities(self, root: str) -> set[str]:
        """Return all entities seen at or below a root such as `node/n7`."""
        return self._roots.get(root, set())

    def slots(self, entity: str) -> list[int]:
        """Return the slots of all signals of an entity."""
        own = self._slots.get(entity)
        return list(own.slots) if own else []

    def at(self, slot: int) -> tuple[Block, int]:
        """Return block and local number of a slot."""
        return self.blocks[slot // BLOCK], slot % BLOCK

    def value(self, slot: int) -> tuple[float, float]:
        """Return latest value and its time in seconds (NaN: never)."""
        block, local = self.at(slot)
        return float(block.latest[local]), float(block.time[local])

    def latest(self, slots: Ints | NDArray[np.int32]) -> F32:
        """Return the latest values of an array of slots; NaN where there is none (slot -1, too)."""
        found = np.full(slots.shape, np.nan, np.float32)
        for number in np.unique(slots[slots >= 0] // BLOCK):
            own = (slots >= 0) & (slots // BLOCK == number)
            found[own] = self.blocks[int(number)].latest[slots[own] % BLOCK]
        return found


@dataclass(frozen=True, slots=True)
class Wave:
    """One sample of many series of one block, as the families see it.

    Arrays are parallel to `rows`; where `mask` is False there is no value (not due, unsupported,
    failed, first sight of a counter) and the numbers mean nothing. `values` are levels, or rates
    per second of counters; `delta` is a counter's increase; `dt` seconds since the sample before.
    """

    block: Block
    rows: Rows
    values: F32
    delta: F32
    dt: F32
    time: F64
    mask: Bool

    def take(self, at: Ints) -> "Wave":
        """Return the part of a wave at some of its rows."""
        rows = at if isinstance(self.rows, slice) else self.rows[at]
        return Wave(
            self.block, rows, self.values[at], self.delta[at], self.dt[at], self.time[at],
            self.mask[at],
        )  # fmt: skip


def measure(block: Block, rows: Rows, raw: F64, good: Bool, time: F64, boot: Bool) -> Wave:
    """Turn raw readings into levels and rates, and remember them.

    A smaller value is a restart and counts as its own; across a changed `boot` the interval is
    dropped; a first sight gives no rate. `raw` must be finite where `good`.
    """
    counter, before = block.counter[rows], block.time[rows]
    known = before == before  # noqa: PLR0124 - NaN is "never"
    dt = np.where(known, time - before, 0.0)
    last = block.raw[rows]
    delta = np.where(raw < last, raw, raw - last)
    span = np.where(dt > 0, dt, 1.0)
    values = np.where(counter, delta / span, raw)
    mask = good & ((dt > 0) & ~boot if counter.all() else ~counter | ((dt > 0) & ~boot))
    block.raw[rows] = np.where(good, raw, last)
    block.time[rows] = np.where(good, time, before)
    values32 = values.astype(np.float32)
    block.latest[rows] = np.where(mask, values32, block.latest[rows])
    return Wave(block, rows, values32, delta.astype(np.float32), dt.astype(np.float32), time, mask)
