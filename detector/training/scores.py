"""Scores of a replay: how surprising each entity is at each time, and by which of its signals.

Where there is a model of the family joint, its fused surprise; else the signals' own, as the live
families gave them: the mean of the largest three, in logarithms.
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from detector.engine import Engine
from detector.families.contract import Score
from detector.families.joint import Floats, Follower, Model
from detector.series import BLOCK, Ints, Series, Wave
from detector.training.crossings import Crossings
from forewarn.catalogue import Family
from forewarn.records import Finding

TOP = 3
Names = Mapping[str, str]  # entity -> what the table calls it


class ScoreRow(msgspec.Struct, frozen=True):
    """One entity at one time (Unix seconds): -log10 p, and which signals weigh most."""

    time: float
    entity: str
    surprise: float
    signals: tuple[str, ...]


class _Entity:
    """The series of one entity, in the order they were first seen."""

    def __init__(self) -> None:
        self.slots: list[int] = []
        self.names: list[str] = []
        self.last = -np.inf
        self.follower: Follower | None = None


class Scorebook:
    """Watches an engine; `rows` and `findings` gather until they are taken."""

    def __init__(self, engine: Engine, models: Mapping[str, Model], names: Names) -> None:
        self._series, self._models, self._names = engine.series, models, names
        self._entities: dict[str, _Entity] = {}
        self._surprise: dict[int, float] = {}  # slot -> of its latest sample
        self._version = -1
        self._crossings = Crossings(engine.cluster)
        self.rows: list[ScoreRow] = []
        self.findings: list[Finding] = []
        engine.observer = self._on_tick
        engine.listen(self._on_score)

    def _on_score(self, wave: Wave, score: Score, family: Family) -> None:
        """Note the surprise of each sample that a family is ready to judge."""
        rows = np.arange(wave.block.used)[wave.rows] if isinstance(wave.rows, slice) else wave.rows
        judged = np.flatnonzero(wave.mask & score.own)
        ready = np.where(score.ready, score.surprise, 0.0)
        base = wave.block.number * BLOCK
        self._surprise.update({base + int(rows[at]): float(ready[at]) for at in judged})

    def _on_tick(self, second: int) -> None:
        """Add a row for each entity that was read since its last one."""
        if self._series.version != self._version:
            self._version = self._series.version
            self._look()
        for entity, own in self._entities.items():
            slots = np.array(own.slots)
            times = times_of(self._series, slots)
            newest = float(np.nanmax(times)) if np.isfinite(times).any() else -np.inf
            if newest > own.last:
                own.last = newest
                self._add(entity, own, slots, newest)

    def _look(self) -> None:
        for block in self._series.blocks:
            for local in range(block.used):
                own = self._entities.setdefault(block.entity(local), _Entity())
                slot = block.number * BLOCK + local
                if slot not in own.slots:
                    own.slots.append(slot)
                    own.names.append(block.signal(local).name)

    def _add(self, entity: str, own: _Entity, slots: Ints, seconds: float) -> None:
        model, name = self._models.get(entity), self._names.get(entity, entity)
        if model is None:
            surprise, signals = self._by_signal(own)
        else:
            own.follower = own.follower or Follower(model)
            level = dict(zip(own.names, self._series.latest(slots).tolist(), strict=True))
            reading = np.array([level.get(signal, np.nan) for signal in model.signals])
            surprise, leap, parts = own.follower.push(reading)
            signals = _most(model.signals, parts)
            away = reading[model.signals.index(signals[0])] - model.centre[int(np.argmax(parts))]
            self.findings += self._crossings.on(
                entity, signals[0], seconds, max((surprise, model.fused_limit),
                                                 (leap, model.leap_limit), key=_over), away,
            )  # fmt: skip
        self.rows.append(ScoreRow(seconds, name, surprise, signals))

    def told(self) -> list[Finding]:
        """Take the findings that came since the last time."""
        found, self.findings = self.findings, []
        return found

    def end(self) -> list[Finding]:
        """Close what is open."""
        seconds = max((own.last for own in self._entities.values()), default=0.0)
        return [*self.told(), *self._crossings.close_all(seconds)]

    def _by_signal(self, own: _Entity) -> tuple[float, tuple[str, ...]]:
        each = np.array([self._surprise.get(slot, 0.0) for slot in own.slots])
        largest = np.sort(each)[-TOP:]
        return float(np.expm1(np.log1p(largest).mean())), _most(tuple(own.names), each)


def times_of(series: Series, slots: Ints) -> Floats:
    """Return when each slot was read last, Unix seconds."""
    found = np.empty(len(slots))
    for number in np.unique(slots // BLOCK):
        here = slots // BLOCK == number
        found[here] = series.blocks[int(number)].time[slots[here] % BLOCK]
    return found


def _most(names: tuple[str, ...], parts: Floats) -> tuple[str, ...]:
    return tuple(names[int(at)] for at in np.argsort(-parts, kind="stable")[:TOP])


def _over(own: tuple[float, float]) -> float:
    return own[0] / own[1]
