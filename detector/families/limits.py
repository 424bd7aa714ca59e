"""Absolute floors beside every band: catalogue limits, the device's own, flags.

They speak from the first sample and at once, since a learned baseline adopts what it is born in.
A boolean that is low without ever having been high says nothing: an unused port is no fault.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from detector.series import (
    F32,
    SIGNALS,
    Block,
    Bool,
    Series,
    Wave,
    flags,
    high_floats,
    integers,
    low_floats,
)
from forewarn.catalogue import Bad, Kind, Movement, Signal

NONE, ABOVE, BELOW, ZERO, NONZERO = range(5)
MOVEMENT: dict[int, Movement] = {ABOVE: "above", BELOW: "below", ZERO: "zero", NONZERO: "nonzero"}
# Bits of gpu_clock_event_reasons that are faults: hw_slowdown, sw_thermal, hw_thermal, power brake.
# Idle, the user's setting, sync boost, display and the ordinary power cap are normal.
BAD_BITS = {"gpu_clock_event_reasons": 0x8 | 0x20 | 0x40 | 0x80}
LIMITED_BY: dict[str, list[str]] = defaultdict(list)  # limit signal -> signals it guards
for _signal in SIGNALS:
    if _signal.floor is not None and _signal.floor.device is not None:
        LIMITED_BY[_signal.floor.device].append(_signal.name)


Links = NDArray[np.int64]  # 2 x n: slots of limits, slots that they guard


@dataclass(slots=True, eq=False)
class State:
    """Limits of one block; links stand by the side that they guard."""

    high: F32 = field(default_factory=high_floats)
    low: F32 = field(default_factory=low_floats)
    on_raw: Bool = field(default_factory=flags)
    zero_bad: Bool = field(default_factory=flags)
    was_high: Bool = field(default_factory=flags)
    nonzero_bits: NDArray[np.int64] = field(default_factory=integers)
    known: int = 0
    above: Links = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    below: Links = field(default_factory=lambda: np.zeros((2, 0), np.int64))


class Limits:
    """Checks each sample against what it must never pass."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._states: list[State] = []

    def state(self, block: Block) -> State:
        """Return the state of a block, grown to the series it holds now."""
        while len(self._states) <= block.number:
            self._states.append(State())
        state = self._states[block.number]
        for local in range(state.known, block.used):
            _prepare(state, block, local)
            self._link(state, block, local)
        state.known = block.used
        return state

    def _link(self, state: State, block: Block, local: int) -> None:
        """Join limit and limited signals of one entity; they stand in one layout, so one block."""
        signal, entity = block.signal(local), block.entity(local)
        if signal.floor is not None and signal.floor.device is not None:
            self._join(state, block, self._series.find(signal.floor.device, entity), local)
        for name in LIMITED_BY.get(signal.name, ()):
            target = self._series.find(name, entity)
            if target is not None and self._series.at(target)[0] is block:
                self._join(state, block, block.number * len(block.raw) + local, target)

    def _join(self, state: State, block: Block, source: int | None, target: int) -> None:
        if source is None or self._series.at(source)[0] is not block:
            return
        own, local = self._series.at(source)[1], target % len(block.raw)
        pair = np.array([[own], [local]])
        if _guards_high(block.signal(local), block.signal(own)):
            state.above = np.unique(np.hstack([state.above, pair]), axis=1)
        else:
            state.below = np.unique(np.hstack([state.below, pair]), axis=1)

    def check(self, wave: Wave) -> NDArray[np.int8]:
        """Return for each row what is wrong: a key of MOVEMENT, or 0."""
        s, rows, block = self.state(wave.block), wave.rows, wave.block
        _follow(s.high, block.latest, s.above)
        _follow(s.low, block.latest, s.below)
        x = np.where(s.on_raw[rows], block.raw[rows], wave.values)
        found = np.zeros(len(x), np.int8)
        found[x > s.high[rows]] = ABOVE
        found[x < s.low[rows]] = BELOW
        found[s.zero_bad[rows] & s.was_high[rows] & (x == 0)] = ZERO
        masks = s.nonzero_bits[rows]
        if masks.any():
            set_bits = np.where(wave.mask & (masks != 0), x, 0).astype(np.int64) & masks
            found[set_bits != 0] = NONZERO
        s.was_high[rows] |= wave.mask & (x > 0)
        found[~wave.mask] = NONE
        return found

    def observed(self, wave: Wave, at: int) -> float:
        """Return what was compared: a counter's total where its limit is one, else the value."""
        local = at if isinstance(wave.rows, slice) else int(wave.rows[at])
        raw = self.state(wave.block).on_raw[local]
        return float(wave.block.raw[local] if raw else wave.values[at])

    def limits(self, block: Block, local: int) -> tuple[float | None, float | None]:
        """Return low and high limit of a slot, None where there is none."""
        s = self.state(block)
        low, high = float(s.low[local]), float(s.high[local])
        return (low if np.isfinite(low) else None), (high if np.isfinite(high) else None)


def _follow(limit: F32, latest: F32, links: Links) -> None:
    """Take over what the devices say; NaN: not read yet, 0: the device has none."""
    value = latest[links[0]]
    known = value > 0
    limit[links[1][known]] = value[known]


def _guards_high(signal: Signal, limit: Signal) -> bool:
    """The side is `bad`; where that is both, the side that the limit's own row names."""
    return (limit.bad if signal.bad is Bad.BOTH else signal.bad) is Bad.HIGH


def _prepare(s: State, block: Block, local: int) -> None:
    signal = block.signal(local)
    s.zero_bad[local] = (
        signal.kind is Kind.STATE and signal.unit == "bool" and signal.bad is Bad.LOW
    )
    if signal.bad is Bad.NONZERO:
        s.nonzero_bits[local] = BAD_BITS.get(signal.name, -1)
    number = signal.floor.number if signal.floor is not None else None
    if number is None or signal.floor is None:
        return
    s.on_raw[local] = signal.kind is Kind.COUNTER and not signal.floor.per_second
    if signal.bad in {Bad.LOW, Bad.BOTH}:
        s.low[local] = number if signal.bad is Bad.LOW else -number
    if signal.bad is not Bad.LOW:
        s.high[local] = number
