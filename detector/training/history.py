"""What was read while training, by entity: from it models of the family joint are fitted."""

from collections.abc import Callable, Iterator

import numpy as np

from detector.engine import Engine
from detector.families.joint import Floats, Model
from detector.series import BLOCK
from detector.training.scores import times_of

Fit = Callable[[tuple[str, ...], Floats, float], Model | None]


class History:
    """Gathers what is read while training: [time, signal] by entity."""

    def __init__(self, engine: Engine) -> None:
        self._series = engine.series
        self._readings: dict[str, tuple[list[float], list[Floats]]] = {}
        self._slots: dict[str, list[int]] = {}
        self._version = -1
        engine.observer = self._on_tick

    def _on_tick(self, second: int) -> None:
        if self._series.version != self._version:
            self._version = self._series.version
            self._slots = {}
            for block in self._series.blocks:
                for local in range(block.used):
                    slots = self._slots.setdefault(block.entity(local), [])
                    slots.append(block.number * BLOCK + local)
        for entity, slots in self._slots.items():
            own = np.array(slots)
            times = times_of(self._series, own)
            newest = float(np.nanmax(times)) if np.isfinite(times).any() else -np.inf
            seconds, readings = self._readings.setdefault(entity, ([], []))
            if newest > (seconds[-1] if seconds else -np.inf):
                seconds.append(newest)
                readings.append(self._series.latest(own).astype(np.float64))

    def models(
        self, fit: Callable[[tuple[str, ...], Floats, float], Model | None]
    ) -> dict[str, Model]:
        """Fit a model of each entity that was read for long enough."""
        found: dict[str, Model] = {}
        for entity, names, seconds, readings in self._whole():
            period = float(np.median(np.diff(seconds))) if len(seconds) > 1 else 1.0
            model = fit(names, readings, max(period, 1.0))
            if model is not None:
                found[entity] = model
        return found

    def _whole(self) -> Iterator[tuple[str, tuple[str, ...], list[float], Floats]]:
        """Yield each entity's readings from when all of its signals were there."""
        for entity, slots in self._slots.items():
            seconds, readings = self._readings.get(entity, ([], []))
            wide = [own for own in readings if len(own) == len(slots)]
            names = tuple(self._series.at(s)[0].signal(self._series.at(s)[1]).name for s in slots)
            if wide:
                matrix = np.array(wide, np.float64)
                known = ~np.isnan(matrix).any(axis=1)
                yield entity, names, seconds[-len(wide) :], matrix[known]
