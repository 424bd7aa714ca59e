"""The thermal resistance of each device as a signal: slow degradation, week on week.

A residual tells what is wrong now; paste that dries out and dust that settles are learned along and
never stand out. So each device's first day is kept as its reference, and the change of resistance
since is read off the normal equations of its regression.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from detector.families.context import LOADS, SIZE, Context
from detector.series import F64, Block, Bool, Ints, Series
from detector.verdict import statement
from detector.verdict.ledger import Key, Ledger, identity
from forewarn.records import NANOSECONDS, Finding

OF, SIGNAL = "gpu_temperature_celsius", "gpu_thermal_resistance_kelvin_per_watt"
LOOK_SECONDS = 300.0
REFERENCE_MINUTES = 1440.0  # a day of learning makes a reference
FLOOR = 0.08  # of the resistance: 3 K under load, below the 4 K that a residual tells at once
LEAST_SPREAD = 0.015  # between devices of one pool, relative
SPREADS, LOOKS = 5.0, 72  # above the pool's own change, for six hours
CLOSES = 0.5  # of the floor
TWINS = 4  # fewer say nothing of what all devices do alike: then twice the floor is needed
DECADES = 0.6  # surprise per spread, as the tails' prior


class Change(NamedTuple):
    """Relative change of resistance since the reference, the pool's own taken off, by target."""

    reference: F64  # kelvin per watt
    change: F64  # NaN: not known
    spread: F64
    common: F64  # the pool's median change
    floor: F64


@dataclass(slots=True, eq=False)
class Memory:
    """What is kept of one block's explained series."""

    reference: F64 = field(default_factory=lambda: np.full((0, SIZE), np.nan))
    streak: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    open: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))


class Resistance:
    """The watcher of coefficients; looks every five minutes of event time."""

    def __init__(self, cluster: str, series: Series, context: Context, ledger: Ledger) -> None:
        self._cluster, self._series, self._context, self._ledger = cluster, series, context, ledger
        self._memories: dict[int, Memory] = {}
        self._due = 0.0

    def on_tick(self, seconds: float) -> list[Finding]:
        """Return the findings that open, go on or close at this second."""
        if seconds < self._due:
            return []
        self._due = seconds + LOOK_SECONDS
        return [found for block in self._series.blocks for found in self._look(block, seconds)]

    def _look(self, block: Block, seconds: float) -> list[Finding]:
        memory, seen = self._memory(block), self.measure(block)
        if not len(seen.change):
            return []
        high = seen.change >= np.maximum(seen.floor, SPREADS * seen.spread)
        known = ~np.isnan(seen.change)
        memory.streak = np.where(known, (memory.streak + 1) * high, memory.streak)
        begins = (memory.streak >= LOOKS) & ~memory.open
        ends = memory.open & known & (seen.change < CLOSES * seen.floor)
        goes_on = memory.open & known & ~ends
        memory.open = (memory.open | begins) & ~ends
        found = [self._open(block, int(at), seen, seconds) for at in np.flatnonzero(begins)]
        found += [self._go_on(block, int(at), seen, seconds) for at in np.flatnonzero(goes_on)]
        keys = [self._key(block, int(at)) for at in np.flatnonzero(ends)]
        found += [self._ledger.close(key, seconds) for key in keys]
        return [own for own in found if own is not None]

    def _memory(self, block: Block) -> Memory:
        """Return a block's memory, grown, with references taken and those of gone devices left."""
        memory = self._memories.setdefault(block.number, Memory())
        state = self._context.state(block)
        more = len(state.targets) - len(memory.streak)
        memory.reference = np.vstack([memory.reference, np.full((more, SIZE), np.nan)])
        memory.streak = np.append(memory.streak, np.zeros(more, np.int64))
        memory.open = np.append(memory.open, np.zeros(more, np.bool_))
        ripe = state.ridge.minutes >= REFERENCE_MINUTES
        new = ripe & np.isnan(memory.reference[:, 0])
        memory.reference[new] = state.ridge.beta[new]
        memory.reference[~ripe] = np.nan
        return memory

    def measure(self, block: Block) -> Change:
        """Return how the resistance of a block's devices changed; NaN where it is not known."""
        state, reference = self._context.state(block), self._memory(block).reference
        own = np.array([block.signal(int(row)).name == OF for row in state.targets], np.bool_)
        gains = np.maximum(reference[:, LOADS], 0)
        total = gains.sum(axis=1)
        weights = np.zeros_like(reference)
        weights[:, LOADS] = gains / np.maximum(total, 1e-9)[:, None]
        moved = state.ridge.change(np.nan_to_num(reference), np.nan_to_num(weights))
        change = np.where(own & (total > 0), moved / np.maximum(total, 1e-9), np.nan)
        common, spread, alone = _pooled(change, state.ridge.pool)
        unit = state.terms[:, 0]
        floor: F64 = FLOOR * (1.0 + alone.astype(np.float64))
        return Change(total / unit, change - common, spread, common, floor)

    def _key(self, block: Block, at: int) -> Key:
        return (block.entity(int(self._context.state(block).targets[at])), SIGNAL, "context")

    def _open(self, block: Block, at: int, seen: Change, seconds: float) -> Finding | None:
        key, nano = self._key(block, at), round(seconds * NANOSECONDS)
        if self._ledger.get(key) is not None or self._ledger.cooling(key, seconds):
            return None
        expected = float(seen.reference[at] * (1 + seen.common[at]))
        width = float(seen.reference[at] * SPREADS * seen.spread[at])
        observed, effect = self._observed(at, seen)
        text = (
            f"thermal resistance of {key[0]} is {observed:.3g} kelvin per watt, "
            f"{expected:.3g} when it was first learned"
        )
        found = Finding(
            id=identity(self._cluster, key[0], SIGNAL, "context", int(seconds)),
            cluster=self._cluster, entity=key[0], signal=SIGNAL, family="context", movement="up",
            value_class="number", opened_at_unix_nano=nano, updated_at_unix_nano=nano,
            observed=statement.finite(observed), expected=statement.finite(expected, 6),
            low=statement.finite(expected - width, 6), high=statement.finite(expected + width, 6),
            unit="kelvin_per_watt", surprise=_surprise(at, seen), effect=effect,
            severity=statement.severity("context", "up", effect), text=text,
            model_id=statement.model_id("context"),
            readings=statement.readings(self._series, key[0]),
        )  # fmt: skip
        return self._ledger.open(key, found, seconds)

    def _go_on(self, block: Block, at: int, seen: Change, seconds: float) -> Finding | None:
        key = self._key(block, at)
        if self._ledger.get(key) is None:  # closed, as its sender was silent
            memory = self._memories[block.number]
            memory.open[at], memory.streak[at] = False, 0
            return None
        observed, effect = self._observed(at, seen)
        return self._ledger.update(key, seconds, observed=statement.finite(observed),
                                   effect=effect, surprise=_surprise(at, seen))  # fmt: skip

    @staticmethod
    def _observed(at: int, seen: Change) -> tuple[float, float]:
        """Return the resistance in kelvin per watt, and the effect in floors."""
        whole = 1 + float(seen.change[at] + seen.common[at])
        return float(seen.reference[at]) * whole, statement.short(float(seen.change[at]) / FLOOR)


def _surprise(at: int, seen: Change) -> float:
    return statement.short(DECADES * float(seen.change[at] / seen.spread[at]))


def _pooled(change: F64, pool: Ints) -> tuple[F64, F64, Bool]:
    """Return by device its pool's median change, the robust spread in it, and whether it is alone.

    1.4826 x the median absolute deviation is the standard deviation of a normal distribution.
    """
    common, spread = np.zeros(len(change)), np.full(len(change), LEAST_SPREAD)
    alone = np.ones(len(change), np.bool_)
    for number in np.unique(pool):
        own = np.flatnonzero((pool == number) & ~np.isnan(change))
        if len(own) < TWINS:
            continue
        middle = np.median(change[own])
        common[own], alone[own] = middle, False
        wide = 1.4826 * np.median(np.abs(change[own] - middle))
        spread[own] = max(float(wide), LEAST_SPREAD)
    return common, spread, alone
