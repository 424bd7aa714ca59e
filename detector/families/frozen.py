"""Family silence, sensors: a reading that repeats exactly while it should move.

Two proofs, learned per series: a sensor that moved with nearly every reading repeats the same one
for minutes; or a slow one repeats it, longer than ever before, while the smoothed load that drives
it (the catalogue's `context`) goes far away and the reading does not follow.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.families import floors
from detector.series import CLASS, F32, SIGNALS, Block, Bool, Ints, Series, Wave
from forewarn.catalogue import Kind, Signal

SENSORS = frozenset({"celsius", "watts", "liters_per_second", "pascals", "rpm", "amperes"})


class Patience(NamedTuple):
    """Readings: `same` in a row that may be frozen, `moves` that show a restless sensor."""

    same: int
    moves: int


# By period: two minutes at 1 Hz, ten at 0.1 Hz, half an hour at one a minute.
PATIENCE: dict[int, Patience] = {
    1: Patience(120, 600), 10: Patience(60, 300), 60: Patience(30, 100),
}  # fmt: skip
SLOW_MOVES = 20  # of a sensor that stands still at times
RESTLESS = 5  # a longest repetition up to this: it moves with nearly every reading
TIMES = 3.0  # longer than the longest repetition before
SWING = 3.0  # effect floors that the load must move meanwhile
MOST = np.uint16(60_000)
Load = Callable[[Block], F32]
Counts = NDArray[np.uint16]


@dataclass(slots=True, eq=False)
class State:
    """The sensors of one block; arrays parallel to `own`, the local slots."""

    known: int = 0
    version: int = -1
    own: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    load: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # -1: none is read
    last: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    low: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    high: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    same: Counts = field(default_factory=lambda: np.zeros(0, np.uint16))
    longest: Counts = field(default_factory=lambda: np.zeros(0, np.uint16))
    moves: Counts = field(default_factory=lambda: np.zeros(0, np.uint16))
    open: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))


class Frozen:
    """Watches sensors by array; `fast` gives the smoothed levels of a block."""

    def __init__(self, series: Series, fast: Load) -> None:
        self._series, self._fast = series, fast
        self._states: list[State] = []
        self._follows = np.array([floors.follows_job(signal) for signal in SIGNALS])
        patience = [PATIENCE[signal.period_seconds] for signal in SIGNALS]
        self._same = np.array([own.same for own in patience], np.uint16)
        self._moves = np.array([own.moves for own in patience], np.uint16)

    def state(self, block: Block) -> State:
        """Return the state of a block, grown to the series it holds now."""
        while len(self._states) <= block.number:
            self._states.append(State())
        s = self._states[block.number]
        if s.version != self._series.version:
            s.version = self._series.version
            new = [n for n in range(s.known, block.used) if sensor(block.signal(n))]
            s.known = block.used
            _grow(s, new)
            for at in np.flatnonzero(s.load < 0):
                s.load[at] = self._load_of(block, int(s.own[at]))
        return s

    def _load_of(self, block: Block, local: int) -> int:
        """Return the slot of the first signal that drives a sensor and stands in its block."""
        for name in block.signal(local).context:
            found = self._series.find(name, block.entity(local)) if name in CLASS else None
            if found is not None and self._series.at(found)[0] is block:
                return self._series.at(found)[1]
        return -1

    def watch(self, wave: Wave) -> tuple[Ints, Ints]:
        """Take a wave; return the positions in it of sensors that froze and that move again."""
        s, block = self.state(wave.block), wave.block
        which, at = _fresh(s, wave)
        if not len(which):
            return which, which
        value, local = wave.values[at], s.own[which]
        moved = value != s.last[which]
        pause = self._follows[block.klass[local]] & ~block.loaded[local]
        again = moved | pause
        s.longest[which] = np.where(
            moved & ~pause, np.maximum(s.longest[which], s.same[which]), s.longest[which]
        )
        s.moves[which] = np.minimum(s.moves[which] + moved, MOST)
        s.same[which] = np.where(again, 0, np.minimum(s.same[which] + 1, MOST))
        s.last[which] = value
        self._swing(s, block, which, again)
        froze = self._proof(s, block, which) & ~s.open[which] & (value != 0)
        back = s.open[which] & again
        s.open[which] = (s.open[which] | froze) & ~back
        return at[froze], at[back]

    def _swing(self, s: State, block: Block, which: Ints, again: Bool) -> None:
        """Follow lowest and highest smoothed load since the reading last moved."""
        load = np.where(s.load[which] >= 0, self._fast(block)[s.load[which]], np.nan)
        s.low[which] = np.where(again, load, np.fmin(s.low[which], load))
        s.high[which] = np.where(again, load, np.fmax(s.high[which], load))

    def _proof(self, s: State, block: Block, which: Ints) -> Bool:
        klass = block.klass[s.own[which]]
        long = (s.same[which] >= self._same[klass]) & (s.moves[which] >= SLOW_MOVES)
        long &= s.same[which] >= TIMES * s.longest[which]
        restless = (s.longest[which] <= RESTLESS) & (s.moves[which] >= self._moves[klass])
        found: Bool = long & restless
        if not long.any():
            return found
        for n in np.flatnonzero(long & ~found & (s.load[which] >= 0)):
            at = which[n]
            own = floors.effect(block.signal(int(s.load[at])))
            floor = max(own.absolute, own.relative * abs(float(s.high[at])))
            found[n] = float(s.high[at] - s.low[at]) >= SWING * floor
        return found

    def renew(self, block: Block, rows: Ints) -> None:
        """Another device: what its sensors do is learned anew."""
        s = self.state(block)
        which = np.isin(s.own, rows)
        s.same[which] = s.longest[which] = s.moves[which] = 0


def sensor(signal: Signal) -> bool:
    """Say whether a signal is a physical reading that cannot stand still for ever."""
    return (
        signal.name not in floors.UNEVEN
        and signal.kind is Kind.GAUGE and signal.unit in SENSORS and not signal.name.endswith(
            floors.LIMITS)
    )  # fmt: skip


def _fresh(s: State, wave: Wave) -> tuple[Ints, Ints]:
    """Return which sensors have a value in a wave, and their positions in it."""
    if isinstance(wave.rows, slice):
        which = np.flatnonzero(wave.mask[s.own])
        return which, s.own[which]
    order = np.argsort(wave.rows)
    place = np.searchsorted(wave.rows[order], s.own)
    at = order[np.minimum(place, len(order) - 1)]
    which = np.flatnonzero((wave.rows[at] == s.own) & wave.mask[at])
    return which, at[which]


def _grow(s: State, new: list[int]) -> None:
    more = len(new)
    s.own = np.append(s.own, np.array(new, np.int64))
    s.load = np.append(s.load, np.full(more, -1, np.int64))
    for name in ("last", "low", "high", "same", "longest", "moves", "open"):
        old = getattr(s, name)
        setattr(s, name, np.append(old, np.zeros(more, old.dtype)))
