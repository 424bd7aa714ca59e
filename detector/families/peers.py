"""Family peers: what differs from its twins at the same instant, and keeps doing so.

Robust z over groups (facts: median and MAD by one sort; z > 6, an effect floor, most of the last
comparisons). Devices are compared every few seconds by their mean since the last time, with a
learned offset each: one that always runs 3 degrees warmer is normal. Ranks are compared step by
step, without offsets: a straggler from the first step on is one. No Python per series.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.families import floors
from detector.families.robust import Comparison, compare
from detector.families.twins import Panel
from detector.series import BLOCK, F32, F64, SIGNALS, Bool, Ints, Series, Wave
from detector.verdict.rates import TWINS, Rates
from detector.verdict.strength import SURPRISE, Strengths, severity
from forewarn.catalogue import Bad, Signal

SURPRISING = 6.0  # robust z
SHARE = 0.2  # more than this part of a group is no outlier: the group is not alike
SCALE_OF_FLOOR = 1 / 6
CLIP = 3.0  # Huber's bound, in scales
MEMORY = 360  # comparisons behind an offset: half an hour at 5 s
YOUNG = 2.0  # a new device must stand out 1 + YOUNG floors, and less as its offset is learned
YOUNG_FOR = 6.0
QUORUM = 0.8  # ranks of a group that must have finished the step
STEP_SHARE = 0.05  # what a rank waits for data matters from this share of the step on


class Pace(NamedTuple):
    """Compared every `seconds`; outlier when `k` of the last `n` comparisons say so."""

    seconds: float
    k: int
    n: int


# By the signal's period: 20, 30 and 120 s at least. A rank within five steps.
PACES: dict[int, Pace] = {1: Pace(5, 4, 5), 10: Pace(10, 3, 4), 60: Pace(60, 2, 3)}
RANK_PACE = Pace(0, 4, 5)


def pace(signal: Signal) -> Pace:
    """Return how often a signal's series are compared, and how often they must stand out."""
    return RANK_PACE if signal.entity == "rank" else PACES[signal.period_seconds]


@dataclass(slots=True, eq=False)
class State:
    """One entry a slot: the sum since the last comparison, the learned offset, verdict bits."""

    total: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    count: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    offset: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    seen: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    hot: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    open: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))
    load: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))
    known: int = 0

    def grow(self, size: int) -> None:
        """Make room for `size` slots."""
        for name in ("total", "count", "offset", "seen", "hot", "open", "load"):
            old = getattr(self, name)
            if len(old) < size:
                setattr(self, name, np.append(old, np.zeros(size - len(old), old.dtype)))


class Verdict(NamedTuple):
    """One comparison of a panel; matrices like its slots. `level` is NaN where nobody is."""

    level: F32
    compared: Comparison
    floor: F32  # by row
    steps: F64  # by row: how long a step takes, 0 where that is not known
    effect: F32
    begins: Bool
    goes_on: Bool
    ends: Bool


class Peers:
    """Compares twins; what begins, goes on and ends is said as masks over a panel."""

    family = "peers"

    def __init__(self, series: Series, rates: Rates | None = None) -> None:
        self.state, self._series = State(), series
        self._rates, self.strengths = rates or Rates(), Strengths()
        self.news = np.zeros(len(SIGNALS), np.bool_)  # classes read since they were compared
        self._follows = np.array([floors.follows_job(signal) for signal in SIGNALS])

    def note(self, wave: Wave) -> None:
        """Add a wave to the sums, except in pauses and where no job runs."""
        block, start = wave.block, wave.block.number * BLOCK
        s = self.state
        s.grow(start + BLOCK)
        if s.known < start + block.used:
            s.load[start : start + block.used] = self._follows[block.klass[: block.used]]
            s.known = start + block.used
        own: Any = (
            slice(start + wave.rows.start, start + wave.rows.stop)
            if isinstance(wave.rows, slice)
            else wave.rows + start
        )
        take = wave.mask & (wave.time >= block.quiet_until[wave.rows])
        take &= block.loaded[wave.rows] | ~s.load[own]
        s.total[own] += np.where(take, wave.values, 0)
        s.count[own] += take
        self.news[block.klass[wave.rows]] = True

    def compare(self, panel: Panel, seconds: float) -> Verdict | None:
        """Compare all groups of a panel that have news; None where none has."""
        s, signal = self.state, panel.signal
        s.grow(int(panel.slots.max()) + 1)
        level = self._levels(panel)
        if level is None:
            return None
        offset = np.where(panel.slots >= 0, s.offset[panel.slots], 0)
        shifted = (level - offset).astype(np.float32)
        least: list[F32] = []
        steps = self._steps(panel)

        def smallest(middle: F32) -> F32:
            least.append(_floor(panel, np.abs(middle), steps))
            return least[0] * np.float32(SCALE_OF_FLOOR)

        found = compare(shifted, smallest)
        effect = _directed(signal, found.away) / self._need(panel, least[0])
        hot = (np.abs(effect) >= 1) & (np.abs(found.away) > SURPRISING * found.scale[:, None])
        hot &= (hot.sum(axis=1) <= np.maximum(1, SHARE * found.members))[:, None]
        verdict = Verdict(level, found, least[0], steps, effect, hot, hot, hot)
        return self._judge(panel, verdict, seconds)

    def _levels(self, panel: Panel) -> F32 | None:
        """Take the means since the last comparison of the groups that are complete enough."""
        s = self.state
        inside = panel.slots >= 0
        count = np.where(inside, s.count[panel.slots], 0)
        part = QUORUM * inside.sum(axis=1) if panel.signal.entity == "rank" else 1
        fresh = (count > 0).sum(axis=1) >= np.maximum(part, 1)
        if not fresh.any():
            return None
        some = (count > 0) & fresh[:, None]
        level = np.where(some, s.total[panel.slots] / np.maximum(count, 1), np.nan)
        taken = panel.slots[some]
        s.total[taken] = s.count[taken] = 0
        if panel.signal.name in floors.CONFIGURED:
            level = np.where(level > 0, level, np.nan)  # 0: the device does not say
        return level.astype(np.float32)

    def _steps(self, panel: Panel) -> F64:
        if panel.steps is None:
            return np.zeros(len(panel.slots))
        known: F64 = np.nan_to_num(self._series.latest(panel.steps)).max(axis=1).astype(np.float64)
        return known

    def _need(self, panel: Panel, floor: F32) -> Any:
        """Return how far each member must stand out; more while its offset is young."""
        if not _learns(panel.signal):
            return floor[:, None]
        seen = self.state.seen[panel.slots]
        return floor[:, None] * (1 + YOUNG / (1 + seen / YOUNG_FOR))

    def _judge(self, panel: Panel, verdict: Verdict, seconds: float) -> Verdict:
        """Shift the bits of all that were compared, learn offsets of the calm ones."""
        s, own = self.state, pace(panel.signal)
        some = ~np.isnan(verdict.level)
        hot = verdict.begins & some & (verdict.compared.members >= 3)[:, None]
        slots = panel.slots[some]
        bits = ((s.hot[slots] << np.uint8(1)) | hot[some]).astype(np.uint8)
        s.hot[slots] = bits
        window = np.uint8((1 << own.n) - 1)
        enough = np.zeros_like(some)
        enough[some] = np.bitwise_count(bits & window) >= own.k
        over = np.zeros_like(some)
        over[some] = bits == 0
        opened = some & s.open[panel.slots]
        if _learns(panel.signal):
            self._learn(panel, verdict, some & ~hot & ~opened)
        strength, lesser = self._strength(panel, verdict, some, seconds)
        over &= strength < self._rates.levels[TWINS, panel.klass] / 2
        begins = ((enough & hot) | lesser) & ~opened
        return verdict._replace(begins=begins, goes_on=opened & (hot | lesser),
                                ends=opened & over)  # fmt: skip

    def _strength(
        self, panel: Panel, verdict: Verdict, some: Bool, seconds: float
    ) -> tuple[F32, Bool]:
        """Move the strengths of all that were compared; say whose are offered as less."""
        self.strengths.grow(len(self.state.total))
        z = np.abs(verdict.compared.away) / verdict.compared.scale[:, None]
        surprise = (z[some] * (SURPRISE / SURPRISING)).astype(np.float32)
        slots = panel.slots[some].astype(np.int64)
        known = (verdict.compared.members >= 3)[:, None] & some
        severe = severity(surprise, verdict.effect[some])
        gain = 2 / pace(panel.signal).n
        size = self.strengths.move(slots, severe, gain, known[some])
        klass = np.full(len(slots), panel.klass)
        self.strengths.end(slots, size, np.full(len(slots), seconds), self._rates, TWINS, klass)
        strength = np.zeros(some.shape, np.float32)
        strength[some] = size
        lesser = known & (strength >= self._rates.levels[TWINS, panel.klass])
        lesser[some] &= severe * self.strengths.held[slots] > 0  # and is off right now
        alike = lesser.sum(axis=1) <= np.maximum(1, SHARE * verdict.compared.members)
        return strength, lesser & alike[:, None]

    def _learn(self, panel: Panel, verdict: Verdict, calm: Bool) -> None:
        s, slots = self.state, panel.slots[calm]
        bound = np.broadcast_to(CLIP * verdict.compared.scale[:, None], calm.shape)[calm]
        away = np.clip(verdict.compared.away[calm], -bound, bound)
        s.seen[slots] = np.minimum(s.seen[slots] + 1, MEMORY)
        s.offset[slots] += away / s.seen[slots]

    def restart(self) -> None:
        """Groups were laid out anew: begin to sum anew, for all alike."""
        self.state.total[:] = self.state.count[:] = 0

    def rebase(self, slots: Ints) -> None:
        """Another job: what it makes of levels is learned anew."""
        self.state.grow(int(slots.max(initial=-1)) + 1)
        self._forget(slots[self.state.load[slots]])

    def renew(self, slots: Ints) -> None:
        """Another device sits in the slot."""
        self.state.grow(int(slots.max(initial=-1)) + 1)
        self._forget(slots)

    def _forget(self, slots: Ints) -> None:
        for own in (self.state.total, self.state.count, self.state.offset, self.state.seen):
            own[slots] = 0
        self.state.hot[slots] = 0
        self.strengths.grow(len(self.state.total))
        if len(slots):  # of one block, as all that begins anew together
            block, local = self._series.at(int(slots[0]))[0], slots % BLOCK
            klass = block.klass[local].astype(np.int64)
            self.strengths.forget(slots, block.time[local], self._rates, TWINS, klass)


def _learns(signal: Signal) -> bool:
    return signal.entity != "rank" and signal.name not in floors.CONFIGURED


def _floor(panel: Panel, middle: F32, steps: F64) -> F32:
    """Return the effect floor of each row, in the signal's unit."""
    own = floors.from_twins(panel.signal)
    floor = np.maximum(own.absolute, own.relative * middle)
    if panel.signal.name == "rank_data_wait_seconds":
        floor = np.maximum(floor, STEP_SHARE * steps)
    found: F32 = np.maximum(np.nan_to_num(floor), 1e-9).astype(np.float32)
    return found


def _directed(signal: Signal, away: F32) -> F32:
    """Return deviations to the bad side, the others as 0."""
    up = signal.bad in {Bad.HIGH, Bad.BOTH, Bad.NONE, Bad.CHANGE, Bad.NONZERO}
    down = signal.bad in {Bad.LOW, Bad.BOTH, Bad.NONE, Bad.CHANGE}
    if signal.name in floors.CONFIGURED:
        up, down = signal.bad is not Bad.LOW, signal.bad is not Bad.HIGH
    found: F32 = np.where(away > 0, away * up, np.where(away < 0, away * down, 0))
    return found
