"""Family context: what a level should be, given the load now and before, and the air around.

Per device a ridge regression on [1, load, lagged loads, inlet], shrunk to the coefficients pooled
over its hardware model. Lagged load is the key feature (facts: 1.00 recall where instantaneous
load gives 0.01). Learning waits 15 minutes, so that the onset of a fault is cut out of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.families.contract import Score
from detector.families.ridge import Ridge
from detector.series import F32, F64, Block, Bool, Ints, Series, Wave
from detector.verdict.tails import Tails
from forewarn.catalogue import Family
from forewarn.inventory import Inventory

# What is explained by what, and the change worth telling (the unit's own).
LOADS: dict[str, str] = {
    "gpu_temperature_celsius": "gpu_power_watts",
    "gpu_temperature_margin_celsius": "gpu_power_watts",
    "gpu_memory_temperature_celsius": "gpu_power_watts",
}
UP = frozenset({"gpu_temperature_celsius", "gpu_memory_temperature_celsius"})
FLOOR = 4.0
# Where the air or the coolant around a device is read: signal, at the entity or a parent of it.
AROUND = (
    "node_inlet_temperature_celsius",
    "rack_inlet_temperature_celsius",
    "facility_coolant_supply_temperature_celsius",
)
LAGS_SECONDS = np.array([10.0, 40.0, 160.0])  # die, plate, sink: a decade around the facts' 40, 150
LOAD_UNIT, ORDINARY_CELSIUS = 100.0, 25.0  # scaling keeps the normal equations well conditioned
SIZE = 3 + len(LAGS_SECONDS)
SETTLE_SECONDS = 160.0  # before this the lagged loads are guesses
LEAST_SCALE = 0.4  # celsius: whole-degree sensors


@dataclass(slots=True, eq=False)
class State:
    """The explained series of one block; arrays grow with them."""

    known: int = 0
    tried: int = -1  # the index's version at which links were looked for last
    waiting: list[int] = field(default_factory=list)
    targets: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    loads: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    around: list[int | None] = field(default_factory=list)
    sign: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    lags: F64 = field(default_factory=lambda: np.zeros((0, len(LAGS_SECONDS))))
    last: F64 = field(default_factory=lambda: np.zeros(0))
    age: F64 = field(default_factory=lambda: np.zeros(0))
    features: F64 = field(default_factory=lambda: np.zeros((0, SIZE)))
    residual: F64 = field(default_factory=lambda: np.zeros(0))
    fresh: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))
    z: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    ridge: Ridge = field(default_factory=lambda: Ridge(SIZE))


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
        self._models: dict[str, int] = {}

    def state(self, block: Block) -> State:
        """Return the state of a block, grown to the series it holds now."""
        while len(self._states) <= block.number:
            self._states.append(State())
        s = self._states[block.number]
        for local in range(s.known, block.used):
            if block.signal(local).name in LOADS:
                s.waiting.append(local)
        s.known = block.used
        if s.waiting and s.tried != self._series.version:
            s.tried = self._series.version
            self._link(s, block)
        return s

    def _link(self, s: State, block: Block) -> None:
        """Take the series whose load is read in the same block (they come in one frame)."""
        left = []
        for local in s.waiting:
            name, entity = block.signal(local).name, block.entity(local)
            load = self._series.find(LOADS[name], entity)
            if load is None or self._series.at(load)[0] is not block:
                left.append(local)
                continue
            model = f"{name} {self._inventory.attribute(entity, 'model') or ''}"
            self._add(s, local, self._series.at(load)[1], name in UP)
            s.ridge.add(self._models.setdefault(model, len(self._models)))
            self._take_over(block, local)
        s.waiting = left

    @staticmethod
    def _add(s: State, local: int, load: int, up: bool) -> None:
        s.targets, s.loads = np.append(s.targets, local), np.append(s.loads, load)
        s.around.append(None)
        s.sign = np.append(s.sign, np.float32(1 if up else -1))
        s.lags = np.vstack([s.lags, np.zeros((1, len(LAGS_SECONDS)))])
        s.last, s.age = np.append(s.last, 0.0), np.append(s.age, 0.0)
        s.features = np.vstack([s.features, np.zeros((1, SIZE))])
        s.residual, s.fresh = np.append(s.residual, 0.0), np.append(s.fresh, False)
        s.z = np.append(s.z, np.float32(np.nan))

    def score(self, wave: Wave) -> Score | None:
        """Compare each level with what its load and surroundings explain."""
        s = self.state(wave.block)
        if not len(s.targets):
            return None
        place = _places(wave)
        self._observe(s, wave, place)
        expected, scale = s.ridge.expect(s.features)
        scale = np.maximum(scale, LEAST_SCALE)
        ready = s.fresh & s.ridge.ready() & (s.age >= SETTLE_SECONDS)
        s.residual = wave.block.latest[s.targets] - expected
        z = (s.sign * s.residual / scale).astype(np.float32)
        s.z = np.where(s.fresh, np.where(ready, z, np.nan), s.z).astype(np.float32)
        surprise = self._tails.surprise(wave.block.klass[s.targets], z)
        effect = np.where(z > 0, s.residual / FLOOR, 0)
        return _spread(wave, place[s.targets], surprise, effect, expected, scale, ready)

    def _observe(self, s: State, wave: Wave, place: Ints) -> None:
        """Move the lagged loads and lay out the features of what is fresh in this wave."""
        at, load_at = place[s.targets], place[s.loads]
        s.fresh = (at >= 0) & (load_at >= 0) & wave.mask[at] & wave.mask[load_at]
        load = wave.block.latest[s.loads].astype(np.float64) / LOAD_UNIT
        time = np.where(s.fresh, wave.time[at], s.last)
        dt = np.clip(time - s.last, 0, 3600)
        new = s.fresh & (s.last == 0)
        move = np.minimum(dt[:, None] / (LAGS_SECONDS + dt[:, None] / 2), 1)
        lags = np.where(new[:, None], load[:, None], s.lags + (load[:, None] - s.lags) * move)
        s.lags = np.where(s.fresh[:, None], lags, s.lags)
        s.age += np.where(new, 0, dt)
        s.last = time
        inlet = self._inlet(s, wave.block)
        s.features = np.column_stack([np.ones(len(load)), load, s.lags, inlet])

    def _inlet(self, s: State, block: Block) -> F64:
        """Return the temperature around each device, from the ordinary one; 0 where not read."""
        values = np.zeros(len(s.targets))
        for index, target in enumerate(s.targets):
            if s.around[index] is None:
                s.around[index] = self._find_around(block.entity(int(target)))
            slot = s.around[index]
            if slot is not None:
                values[index] = self._series.value(slot)[0] - ORDINARY_CELSIUS
        return np.nan_to_num(values)

    def _find_around(self, entity: str) -> int | None:
        for name in AROUND:
            for own in (entity, *self._inventory.parents(entity)):
                slot = self._series.find(name, own)
                if slot is not None:
                    return slot
        return None

    def absorb(self, wave: Wave, frozen: Bool) -> None:
        """Add what is fresh and not frozen to the minute's normal equations."""
        s = self._states[wave.block.number]
        if len(s.targets):
            at = _places(wave)[s.targets]
            held = frozen[at] & s.fresh
            level = wave.block.latest[s.targets].astype(np.float64)
            take = s.fresh & ~held & (s.age >= SETTLE_SECONDS)
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
                "age": s.age.copy(), **s.ridge.snapshot()}  # fmt: skip

    def restore(self, block: Block, arrays: dict[str, NDArray[Any]]) -> None:
        """Write a snapshot back; the block must hold the same series."""
        s = self.state(block)
        if not np.array_equal(s.targets, arrays["targets"]):
            raise ValueError("context: the snapshot is of other series")
        s.lags, s.last, s.age = (arrays[name].copy() for name in ("lags", "last", "age"))
        s.ridge.restore(arrays)


def _places(wave: Wave) -> Ints:
    """Return where each slot of the block stands in the wave, -1: nowhere."""
    used = wave.block.used
    if isinstance(wave.rows, slice):
        return np.arange(used)
    places = np.full(used, -1, np.int64)
    places[wave.rows] = np.arange(len(wave.rows))
    return places


def _spread(
    wave: Wave, at: Ints, surprise: F32, effect: F64, expected: F64, scale: F64, ready: Bool
) -> Score:
    """Lay out scores of targets parallel to the wave's rows."""
    size, here = len(wave.values), at >= 0
    out = [np.zeros(size, np.float32) for _ in range(4)]
    parts: tuple[NDArray[Any], ...] = (surprise, effect, expected, scale)
    for array, own in zip(out, parts, strict=True):
        array[at[here]] = own[here]
    flags = [np.zeros(size, np.bool_) for _ in range(2)]
    flags[0][at[here]], flags[1][at[here]] = ready[here], True
    return Score(out[0], out[1], out[2], out[3], flags[0], flags[1])
