"""Family band: a centre and a spread per series, for everything that has a level.

Huber-clipped statistics with two time constants (facts: clipping at 3 spreads bounds what one
outlier can move; levels, not differences). The fast centre moves per sample, the slow one from
60-s aggregates. One-sided where the catalogue says which side is bad.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.bundle import Arrays
from detector.families import floors
from detector.families.contract import Score
from detector.series import (
    CLASS,
    F32,
    SIGNALS,
    Block,
    Bool,
    Ints,
    Wave,
    flags,
    floats,
    restore,
    snapshot,
    unknown_floats,
)
from detector.verdict.tails import Tails
from forewarn.catalogue import Bad, Family

CLIP = 3.0  # Huber's bound, in spreads
TO_SIGMA = 1.2533  # mean absolute deviation to standard deviation, of a normal distribution
FAST_SECONDS, SLOW_MINUTES = 120.0, 60.0
WARM_SECONDS = 120.0
SCALE_OF_FLOOR = 1 / 6  # a series without any noise is held to a sixth of its floor
BORROWED_MINUTES = 10.0  # what a spread counts for that was learned of other series
YOUNG = 4.0  # the scale is widened by 1 + YOUNG / (minutes seen)


@dataclass(slots=True, eq=False)
class State:
    """Statistics of one block; units are the signals' own."""

    banded: Bool = field(default_factory=flags)
    load: Bool = field(default_factory=flags)
    up: Bool = field(default_factory=flags)  # high is bad
    down: Bool = field(default_factory=flags)
    floor_absolute: F32 = field(default_factory=floats)
    floor_relative: F32 = field(default_factory=floats)
    quantum: F32 = field(default_factory=floats)
    fast: F32 = field(default_factory=floats)
    fast_seconds: F32 = field(default_factory=floats)
    centre: F32 = field(default_factory=floats)
    spread: F32 = field(default_factory=floats)
    minutes: F32 = field(default_factory=floats)  # aggregates behind the centre
    spread_minutes: F32 = field(default_factory=floats)
    total: F32 = field(
        default_factory=floats
    )  # aggregate of this minute: n, sum of clipped values - centre, |.|
    deviation: F32 = field(default_factory=floats)
    absolute: F32 = field(default_factory=floats)
    residual: F32 = field(
        default_factory=unknown_floats
    )  # the last directed residual, for the tails
    known: int = 0


class Band:
    """The scorer of levels."""

    family: Family = "band"
    pauses = True

    def __init__(self, tails: Tails) -> None:
        self._tails = tails
        self._states: list[State] = []
        self._seeds: dict[tuple[str, str], tuple[float, float, float]] = {}
        self._spreads: dict[str, float] = {}
        self._season: F32 | None = None  # [class, hour of UTC]: only where a test found one

    def state(self, block: Block) -> State:
        """Return the state of a block, grown to the series it holds now."""
        while len(self._states) <= block.number:
            self._states.append(State())
        state = self._states[block.number]
        for local in range(state.known, block.used):
            _prepare(state, block, local)
            self._begin(state, block, local)
        state.known = block.used
        return state

    def adopt(self, arrays: Arrays, blocks: Sequence[Block]) -> None:
        """Take over a trained model: seasons, and what series begin with that know nothing yet."""
        keys = zip(arrays.band_signals.tolist(), arrays.band_entities.tolist(), strict=True)
        values = (arrays.band_centre, arrays.band_spread, arrays.band_minutes)
        rows = zip(*(own.tolist() for own in values), strict=True)
        self._seeds = dict(zip(keys, rows, strict=True))
        spreads = arrays.spread_median.tolist()
        self._spreads = dict(zip(arrays.spread_signals.tolist(), spreads, strict=True))
        season = np.zeros((len(SIGNALS), 24), np.float32)
        for name, hours in zip(arrays.season_signals.tolist(), arrays.season_hours, strict=True):
            season[CLASS[name]] = hours
        before = self._season if self._season is not None else np.zeros_like(season)
        changed = np.flatnonzero((season != before).any(axis=1))
        self._season = season if season.any() else None
        for block in blocks:
            s = self.state(block)  # a level that held its hours itself is learned anew
            self.rebase(block, np.flatnonzero(np.isin(block.klass[: block.used], changed)))
            for local in np.flatnonzero(s.minutes[: block.used] < 1):
                self._begin(s, block, int(local))

    def _begin(self, s: State, block: Block, local: int) -> None:
        """Give a series what was trained of it: its level, or at least the spread of its kind."""
        name = block.signal(local).name
        spread = self._spreads.get(name)
        if spread is not None and s.spread_minutes[local] < 1:
            s.spread[local], s.spread_minutes[local] = spread, BORROWED_MINUTES
        seed = self._seeds.get((name, block.entity(local)))
        if seed is not None:
            s.centre[local], s.spread[local], s.minutes[local] = seed
            s.spread_minutes[local] = s.minutes[local]

    def _by_hour(self, wave: Wave) -> F32 | float:
        """Return what the hour of the day adds to each level."""
        if self._season is None:
            return 0.0
        hour = np.nan_to_num(wave.time // 3600 % 24).astype(np.int64)
        added: F32 = self._season[wave.block.klass[wave.rows], hour]
        return added

    def release(self, block: Block, local: int) -> None:
        """Leave a series to another family."""
        self.state(block).banded[local] = False

    def take(self, wave: Wave) -> Wave | None:
        """Take the whole wave: most series have a level, and a block runs best as a whole."""
        return wave if self.state(wave.block).banded[: wave.block.used].any() else None

    def score(self, wave: Wave) -> Score:
        """Compare each level with its slow centre."""
        s, rows = self._states[wave.block.number], wave.rows
        centre = s.centre[rows] + self._by_hour(wave)
        floor = np.maximum(s.floor_absolute[rows], s.floor_relative[rows] * np.abs(centre))
        deviation = np.where(wave.mask, wave.values - centre, 0)
        scale = self._scale(s, rows, floor)
        directed = np.where(deviation > 0, deviation * s.up[rows], -deviation * s.down[rows])
        z = (directed / scale).astype(np.float32)
        ready = s.banded[rows] & (s.minutes[rows] * 60 >= WARM_SECONDS) & wave.mask
        ready &= wave.block.loaded[rows] | ~s.load[rows]
        s.residual[rows] = np.where(wave.mask, np.where(ready, z, np.nan), s.residual[rows])
        surprise = self._tails.surprise(wave.block.klass[rows], z)
        effect = np.where(directed > 0, deviation / floor, 0).astype(np.float32)
        return Score(surprise, effect, centre, scale, ready, s.banded[rows])

    @staticmethod
    def _scale(s: State, rows: Any, floor: F32) -> F32:
        """Return the standard deviation to expect: learned, widened while young, never 0."""
        young = 1 + YOUNG / np.maximum(s.spread_minutes[rows], 1)
        learned = TO_SIGMA * s.spread[rows] * young
        least = np.maximum(floor * np.float32(SCALE_OF_FLOOR), s.quantum[rows])
        scale: F32 = np.maximum(learned, least)
        return scale

    def absorb(self, wave: Wave, frozen: Bool) -> None:
        """Move the fast centre and the minute's aggregate by clipped deviations."""
        s, rows = self._states[wave.block.number], wave.rows
        take = wave.mask & s.banded[rows] & ~frozen
        s.residual[rows] = np.where(frozen & wave.mask, np.nan, s.residual[rows])
        dt = np.clip(wave.dt, 0, 60)
        age = s.fast_seconds[rows] + np.where(take, np.maximum(dt, 1), 0)
        level = wave.values - self._by_hour(wave)
        away = np.where(take, level - s.fast[rows], 0)
        step = np.maximum(dt, 1) / np.minimum(np.maximum(age, 1), FAST_SECONDS)
        s.fast[rows] += away * np.minimum(step, 1)
        s.fast_seconds[rows] = age
        self._aggregate(s, wave, level, take)

    @staticmethod
    def _aggregate(s: State, wave: Wave, level: F32, take: Bool) -> None:
        rows = wave.rows
        young = s.minutes[rows] < 1
        middle = np.where(young, s.fast[rows], s.centre[rows])
        bound = np.where(s.spread_minutes[rows] < 2, np.inf, CLIP * 2 * s.spread[rows])
        bound = np.maximum(bound, np.maximum(s.floor_absolute[rows] * 0.5, s.quantum[rows]))
        away = np.where(take, level - middle, 0)
        clipped = np.where(young, away, np.clip(away, -bound, bound))
        s.total[rows] += take
        s.deviation[rows] += np.where(young & take, level, clipped)
        s.absolute[rows] += np.abs(clipped)

    def learn(self, block: Block) -> None:
        """Commit the minute: centre and spread move, by 1/minutes at first, then by 1/60."""
        s, used = self.state(block), slice(0, block.used)
        some = s.total[used] >= 1
        n = np.maximum(s.total[used], 1)
        new = s.minutes[used] < 1
        s.minutes[used] += some
        s.spread_minutes[used] += some
        rate = some / np.minimum(np.maximum(s.minutes[used], 1), SLOW_MINUTES)
        mean = s.deviation[used] / n
        s.centre[used] += np.where(new & some, mean - s.centre[used], mean * rate)
        calm = some / np.minimum(np.maximum(s.spread_minutes[used], 1), SLOW_MINUTES)
        s.spread[used] += (s.absolute[used] / n - s.spread[used]) * calm
        for own in (s.total, s.deviation, s.absolute):
            own[used] = 0
        quiet = ~np.isnan(s.residual[used])
        self._tails.observe(block.klass[used], s.residual[used], quiet)

    def rebase(self, block: Block, rows: Ints) -> None:
        """Forget the level, keep the scale (as if learned from ten minutes at most)."""
        s = self.state(block)
        for own in (s.minutes, s.fast_seconds, s.total, s.deviation, s.absolute):
            own[rows] = 0
        s.spread_minutes[rows] = np.minimum(s.spread_minutes[rows], 10)

    def renew(self, block: Block, rows: Ints) -> None:
        """Begin anew with another device: its scale is as good as any."""
        self.rebase(block, rows)

    def readiness(self, block: Block) -> tuple[int, int]:
        """Return how many series of a block are past the warm-up, of how many."""
        s, used = self.state(block), slice(0, block.used)
        warm = s.banded[used] & (s.minutes[used] * 60 >= WARM_SECONDS)
        return int(warm.sum()), int(s.banded[used].sum())

    def snapshot(self, block: Block) -> dict[str, NDArray[Any]]:
        """Copy the state of a block."""
        return snapshot(self.state(block), block.used)

    def restore(self, block: Block, arrays: dict[str, NDArray[Any]]) -> None:
        """Write a snapshot back."""
        restore(self.state(block), arrays)


def _prepare(s: State, block: Block, local: int) -> None:
    """Write down what the catalogue and the tables say of a new series."""
    signal = block.signal(local)
    own = floors.effect(signal)
    s.banded[local] = floors.banded(signal)
    s.load[local] = signal.name in floors.LOAD
    s.up[local] = signal.bad in {Bad.HIGH, Bad.BOTH} and signal.name not in floors.BURSTS
    s.down[local] = signal.bad in {Bad.LOW, Bad.BOTH}
    s.floor_absolute[local] = max(own.absolute, 1e-12)
    s.floor_relative[local] = own.relative
    s.quantum[local] = (signal.quantum or 0.0) / 3
