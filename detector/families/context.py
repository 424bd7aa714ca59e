"""Family context: what a level should be, given the load now and before, and the air around.

Per device a ridge regression on [1, load, lagged loads, inlet], shrunk to the coefficients pooled
over its hardware model. Lagged load is the key feature (facts: 1.00 recall where instantaneous load
gives 0.01). One more feature fades with the longest lag from the first sample on: the load before
it is unknown, and a first-order lag forgets its start just so. Learning waits 10 to 15 minutes, so
that the onset of a fault is cut out of it, and leaves out what is read while fans or clocks are at
their end. Where a fan holds the temperature, the fan tells: its effort at given power is explained
the same way.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.bundle import Arrays
from detector.families.contract import Score
from detector.families.explained import AROUND, EXPLAINED, FAN, REASONS, Explained, saturated
from detector.families.ridge import Ridge
from detector.series import BLOCK, F32, F64, Block, Bool, Ints, Series, Wave
from detector.verdict.tails import Tails
from forewarn.catalogue import Family
from forewarn.inventory import Inventory

LAGS_SECONDS = np.array([10.0, 40.0, 160.0])  # die, plate, sink: a decade around the facts' 40, 150
ORDINARY_CELSIUS = 25.0
# [1, load, lagged loads, what was unknown of the load before the first sample, inlet]
SIZE = 4 + len(LAGS_SECONDS)
FEATURES = ("one", "load", "load_lag_10", "load_lag_40", "load_lag_160", "start", "around")
LOADS = slice(1, 2 + len(LAGS_SECONDS))  # their coefficients sum to the thermal resistance
SETTLE_SECONDS = 60.0  # before this the shorter lags are guesses
# Seen again after a gap, a device may be warm or cold: what it was at its first start says nothing.
AGAIN_SECONDS = 400.0
GAP_SECONDS = 300.0  # unseen for longer than this: the lagged loads begin anew


@dataclass(slots=True, eq=False)
class State:
    """The explained series of one block; arrays grow with them."""

    known: int = 0
    tried: int = -1  # the index's version at which links were looked for last
    waiting: list[int] = field(default_factory=list)
    targets: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    loads: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    around: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # slot, or -1: not read
    fans: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # likewise
    reasons: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    # of the table: load unit, most load, side, floor, least scale, relative, end, rest
    terms: F64 = field(default_factory=lambda: np.zeros((0, 8)))
    lags: F64 = field(default_factory=lambda: np.zeros((0, len(LAGS_SECONDS))))
    last: F64 = field(default_factory=lambda: np.zeros(0))
    age: F64 = field(default_factory=lambda: np.zeros(0))
    settle: F64 = field(default_factory=lambda: np.zeros(0))  # the age from which it is judged
    features: F64 = field(default_factory=lambda: np.zeros((0, SIZE)))
    residual: F64 = field(default_factory=lambda: np.zeros(0))
    fresh: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))
    z: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    ridge: Ridge = field(default_factory=lambda: Ridge(SIZE))


class Terms(NamedTuple):
    """What an expectation is made of, in the order of FEATURES: inputs in their units, and parts.

    `samples` are those behind the coefficients, `minutes` those in which there were any.
    """

    load: str
    around: str
    values: tuple[float, ...]
    parts: tuple[float, ...]
    samples: float
    minutes: float


class Context:
    """The scorer of levels that load explains; `take_over` is told of each series it takes."""

    family: Family = "context"
    pauses = False

    def __init__(
        self,
        tails: Tails,
        series: Series,
        inventory: Inventory,
        take_over: Callable[[Block, int], None],
    ) -> None:
        self._tails, self._series, self._inventory = tails, series, inventory
        self._take_over = take_over
        self._states: list[State] = []
        self._pools: dict[str, int] = {}
        self._trained: dict[str, F64] = {}  # by pool
        self._seeds: dict[tuple[str, str], tuple[F64, float]] = {}

    def state(self, block: Block) -> State:
        """Return the state of a block, grown to the series it holds now."""
        while len(self._states) <= block.number:
            self._states.append(State())
        s = self._states[block.number]
        for local in range(s.known, block.used):
            if block.signal(local).name in EXPLAINED:
                s.waiting.append(local)
        s.known = block.used
        if s.tried != self._series.version:
            s.tried = self._series.version
            self._link(s, block)
            self._look_around(s, block)
        return s

    def _link(self, s: State, block: Block) -> None:
        """Take the series whose load is read in the same block (they come in one frame)."""
        loads = [self._load_of(block, local) for local in s.waiting]
        taken = [(own, load) for own, load in zip(s.waiting, loads, strict=True) if load >= 0]
        s.waiting = [own for own, load in zip(s.waiting, loads, strict=True) if load < 0]
        if not taken:
            return
        _grow(s, taken, [EXPLAINED[block.signal(own).name] for own, _ in taken])
        s.ridge.add([self._pool(block, own) for own, _ in taken])
        self._begin(s, block, len(s.targets) - len(taken))
        for own, _ in taken:
            self._take_over(block, own)

    def _load_of(self, block: Block, local: int) -> int:
        load = self._series.find(EXPLAINED[block.signal(local).name].load, block.entity(local))
        if load is None or self._series.at(load)[0] is not block:
            return -1
        return self._series.at(load)[1]

    def _pool(self, block: Block, local: int) -> int:
        """Return the number of a series' pool: its signal on its hardware model."""
        model = self._inventory.attribute(block.entity(local), "model") or ""
        return self._pools.setdefault(f"{block.signal(local).name} {model}", len(self._pools))

    def adopt(self, arrays: Arrays) -> None:
        """Take over a trained model: for pools, and for series that are not ready themselves."""
        sums = arrays.context_pool_sums.astype(np.float64)
        self._trained = dict(zip(arrays.context_pools.tolist(), sums, strict=True))
        keys = zip(arrays.context_signals.tolist(), arrays.context_entities.tolist(), strict=True)
        rows = zip(arrays.context_equations.astype(np.float64), arrays.context_minutes, strict=True)
        self._seeds = {key: (own, float(age)) for key, (own, age) in zip(keys, rows, strict=True)}
        for s, block in zip(self._states, self._series.blocks, strict=False):
            self._begin(s, block, 0)

    def _begin(self, s: State, block: Block, first: int) -> None:
        """Give series from `first` on what was trained of them and of their pools."""
        numbers = set(s.ridge.pool.tolist())
        for name, number in self._pools.items():
            if number in numbers and name in self._trained:
                s.ridge.trust(number, self._trained[name])
        ready = s.ridge.ready() & s.ridge.solved
        for at in range(first, len(s.targets)):
            local = int(s.targets[at])
            seed = self._seeds.get((block.signal(local).name, block.entity(local)))
            if seed is not None and not ready[at]:
                s.ridge.seed(at, *seed)
        if self._trained:
            s.ridge.solve()

    def terms(self, block: Block, local: int) -> Terms | None:
        """Return what the latest expectation of a series was made of; None if it is not taken."""
        s = self.state(block)
        at = np.flatnonzero(s.targets == local)
        if not len(at):
            return None
        own, ridge = int(at[0]), s.ridge
        values, beta = s.features[own], ridge.beta[own]
        shown = values.copy()
        shown[LOADS] *= s.terms[own, 0]
        shown[-1] += ORDINARY_CELSIUS
        around = self._series.at(int(s.around[own])) if s.around[own] >= 0 else None
        return Terms(
            load=block.signal(int(s.loads[own])).name,
            around="" if around is None else around[0].signal(around[1]).name,
            values=tuple(shown.tolist()), parts=tuple((values * beta).tolist()),
            samples=float(ridge.committed[own, -3]), minutes=float(ridge.minutes[own]),
        )  # fmt: skip

    def pools(self) -> dict[str, int]:
        """Return the numbers of all pools, by `signal hardware-model`."""
        return dict(self._pools)

    def _look_around(self, s: State, block: Block) -> None:
        """Find air or coolant, fans and clock reasons of those that have none yet."""
        for own, names in ((s.around, AROUND), (s.fans, (FAN,)), (s.reasons, (REASONS,))):
            for at in np.flatnonzero(own < 0):
                own[at] = self._find(names, block.entity(int(s.targets[at])))

    def _find(self, names: tuple[str, ...], entity: str) -> int:
        places = (entity, *self._inventory.parents(entity))
        found = (self._series.find(name, own) for name in names for own in places)
        return next((slot for slot in found if slot is not None), -1)

    def take(self, wave: Wave) -> Wave | None:
        """Move the lagged loads; take the levels whose load came with them."""
        s = self.state(wave.block)
        if not len(s.targets):
            return None
        place = _places(wave)
        self._observe(s, wave, place)
        return wave.take(place[s.targets[s.fresh]]) if s.fresh.any() else None

    def score(self, wave: Wave) -> Score:
        """Compare each level with what its load and surroundings explain."""
        s = self._states[wave.block.number]
        expected, scale = s.ridge.expect(s.features, s.fresh)
        _, _, side, floor, least, relative, end, rest = s.terms[s.fresh].T
        size = np.where(relative > 0, np.maximum(np.abs(expected), 1e-9), 1.0)
        scale = np.maximum(scale, least * size)
        ready = (s.ridge.ready() & (s.age >= s.settle))[s.fresh]
        residual = wave.values - expected
        low = s.features[s.fresh, LOADS.start] < rest * s.ridge.mean(LOADS.start)[s.fresh]
        residual = np.where(wave.values >= end, np.maximum(residual, 0), residual)
        residual = np.where(low, 0.0, residual)  # at its lowest, whatever a straight line expects
        s.residual[s.fresh] = residual
        z = (np.where(side == 0, np.abs(residual), side * residual) / scale).astype(np.float32)
        s.z[s.fresh] = np.where(ready, z, np.nan)
        surprise = self._tails.surprise(wave.block.klass[wave.rows], z)
        effect = np.where(z > 0, residual / (floor * size), 0).astype(np.float32)
        return Score(
            surprise, effect, expected.astype(np.float32), scale.astype(np.float32), ready,
            np.ones_like(wave.mask),
        )  # fmt: skip

    def _observe(self, s: State, wave: Wave, place: Ints) -> None:
        """Move the lagged loads and lay out the features of what is fresh in this wave."""
        at, load_at = place[s.targets], place[s.loads]
        s.fresh = (at >= 0) & (load_at >= 0) & wave.mask[at] & wave.mask[load_at]
        load = wave.block.latest[s.loads].astype(np.float64)
        s.fresh &= (load >= 0) & (load <= s.terms[:, 1])
        load = load / s.terms[:, 0]
        time = np.where(s.fresh, wave.time[at], s.last)
        dt = np.clip(time - s.last, 0, 3600)
        new = s.fresh & ((s.last == 0) | (dt > GAP_SECONDS))
        move = np.minimum(dt[:, None] / (LAGS_SECONDS + dt[:, None] / 2), 1)
        lags = np.where(new[:, None], load[:, None], s.lags + (load[:, None] - s.lags) * move)
        s.lags = np.where(s.fresh[:, None], lags, s.lags)
        again = np.where(s.last == 0, SETTLE_SECONDS, AGAIN_SECONDS)
        s.settle = np.where(new, again, s.settle)
        s.age = np.where(new, 0, s.age + dt)
        s.last = time
        inlet = self._inlet(s)
        start = np.exp(-s.age / LAGS_SECONDS[-1])
        s.features = np.column_stack([np.ones(len(load)), load, s.lags, start, inlet])

    def _inlet(self, s: State) -> F64:
        """Return the temperature around each device, from the ordinary one; 0 where not read."""
        values = np.zeros(len(s.targets))
        for number in np.unique(s.around[s.around >= 0] // BLOCK):
            own = (s.around >= 0) & (s.around // BLOCK == number)
            latest = self._series.blocks[int(number)].latest
            values[own] = latest[s.around[own] % BLOCK] - ORDINARY_CELSIUS
        return np.nan_to_num(values)

    def absorb(self, wave: Wave, frozen: Bool) -> None:
        """Add what is fresh and not frozen to the minute's normal equations."""
        s = self._states[wave.block.number]
        held = np.zeros(len(s.targets), np.bool_)
        held[s.fresh] = frozen
        at_end = saturated(self._series.latest(s.fans), self._series.latest(s.reasons))
        take = s.fresh & ~held & (s.age >= s.settle) & ~at_end
        level = wave.block.latest[s.targets].astype(np.float64)
        s.z[held] = np.nan  # a fault is no example of what is normal
        s.ridge.absorb(s.features, level, s.residual, take, held)

    def learn(self, block: Block) -> None:
        """Commit what is old enough, solve anew, and show quiet residuals to the tails."""
        s = self.state(block)
        if len(s.targets):
            s.ridge.learn()
            self._tails.observe(block.klass[s.targets], s.z, ~np.isnan(s.z))

    def rebase(self, block: Block, rows: Ints) -> None:
        """Keep what was learned: heat belongs to the device, not to the job."""

    def renew(self, block: Block, rows: Ints) -> None:
        """Forget what was learned of devices that were replaced."""
        s = self.state(block)
        which = np.isin(s.targets, rows)
        s.ridge.forget(which)
        s.age[which], s.last[which] = 0, 0

    def snapshot(self, block: Block) -> dict[str, NDArray[Any]]:
        """Copy what was learned of a block's devices, by slot."""
        s = self.state(block)
        return {"targets": s.targets.copy(), "lags": s.lags.copy(), "last": s.last.copy(),
                "age": s.age.copy(), "settle": s.settle.copy(), **s.ridge.snapshot()}  # fmt: skip

    def restore(self, block: Block, arrays: dict[str, NDArray[Any]]) -> None:
        """Write a snapshot back; the block must hold the same series."""
        s = self.state(block)
        if not np.array_equal(s.targets, arrays["targets"]):
            raise ValueError("context: the snapshot is of other series")
        for name in ("lags", "last", "age", "settle"):
            setattr(s, name, arrays[name].copy())
        s.ridge.restore(arrays)


def _grow(s: State, taken: list[tuple[int, int]], terms: list[Explained]) -> None:
    """Lengthen all arrays of a state for newly taken (target, load) slots."""
    own, load = np.array(taken, np.int64).T
    more = len(own)
    s.targets, s.loads = np.append(s.targets, own), np.append(s.loads, load)
    for name in ("around", "fans", "reasons"):
        setattr(s, name, np.append(getattr(s, name), np.full(more, -1)))
    rows = [(own.load_unit, own.load_most, own.side, own.floor, own.least, own.relative, own.end,
             own.rest) for own in terms]  # fmt: skip
    s.terms = np.vstack([s.terms, np.array(rows, np.float64)])
    s.lags = np.vstack([s.lags, np.zeros((more, len(LAGS_SECONDS)))])
    s.features = np.vstack([s.features, np.zeros((more, SIZE))])
    for name in ("last", "age", "settle", "residual"):
        setattr(s, name, np.append(getattr(s, name), np.zeros(more)))
    s.fresh = np.append(s.fresh, np.zeros(more, np.bool_))
    s.z = np.append(s.z, np.full(more, np.nan, np.float32))


def _places(wave: Wave) -> Ints:
    """Return where each slot of the block stands in the wave, -1: nowhere."""
    used = wave.block.used
    if isinstance(wave.rows, slice):
        return np.arange(used)
    places = np.full(used, -1, np.int64)
    places[wave.rows] = np.arange(len(wave.rows))
    return places
