"""Tests which signals follow the hour of the day: only those get hour bins.

Training GPUs follow jobs, not clocks; rooms, inlets and storage do follow clocks. The test asks of
the last days what the days before foretell: a profile that does not come true is none.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from detector.bundle import Season
from detector.families import floors
from forewarn.catalogue import CATALOGUE

HOURS, LEAST_DAYS, HELD_BACK = 24, 7, 0.3
LEAST_EXPLAINED = 0.5  # of the variation between hours on the days held back
LEAST_AMPLITUDE = 0.25  # of the effect floor, from lowest to highest hour: less changes no verdict
Floats = NDArray[np.float64]


class Seasons:
    """Hourly means of every signal, each series around its own mean of the day."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, int], Floats] = defaultdict(lambda: np.zeros((2, HOURS)))

    def add(
        self, names: tuple[tuple[str, str], ...], which: NDArray[np.int64], seconds: Floats,
        values: Floats,
    ) -> None:  # fmt: skip
        """Take a table: `which` points into `names`, (signal, entity); times are Unix seconds."""
        levels = np.array([_follows(name) for name, _ in names], np.bool_)
        keep = np.flatnonzero(levels[which]) if len(names) else np.zeros(0, np.int64)
        if not len(keep):
            return
        hours = (seconds[keep] // 3600).astype(np.int64)
        first = int(hours.min()) // 24
        days = int(hours.max()) // 24 - first + 1
        cell = which[keep] * days * HOURS + hours - first * HOURS
        shape, size = (len(names), days, HOURS), len(names) * days * HOURS
        counts = np.bincount(cell, minlength=size).reshape(shape)
        sums = np.bincount(cell, values[keep], size).astype(np.float64).reshape(shape)
        self._gather(names, first, counts, sums)

    def _gather(
        self, names: tuple[tuple[str, str], ...], first_day: int, counts: NDArray[np.int64],
        sums: Floats,
    ) -> None:  # fmt: skip
        """Add whole days only: a part of one has another mean."""
        whole = (counts > 0).all(axis=2)
        means = sums / np.maximum(counts, 1)
        apart = means - means.mean(axis=2, keepdims=True)
        for at, day in np.argwhere(whole):
            held = self._sums[names[int(at)][0], first_day + int(day)]
            held[0] += apart[at, day]
            held[1] += 1

    def test(self) -> dict[str, tuple[Season, Floats]]:
        """Return by signal what the test said, and the profile (zeros where it is not used)."""
        days: dict[str, list[Floats]] = defaultdict(list)
        for (name, _day), (total, count) in sorted(self._sums.items()):
            days[name].append(total / count)
        return {
            name: _judge(name, np.array(own))
            for name, own in sorted(days.items())
            if len(own) >= LEAST_DAYS
        }


def _follows(name: str) -> bool:
    """Say whether a signal is a level that no job explains."""
    signal = CATALOGUE[name]
    return floors.banded(signal) and name not in floors.LOAD and signal.kind == "gauge"


def _judge(name: str, days: Floats) -> tuple[Season, Floats]:
    """Foretell the last days from those before; [day, hour], around each day's mean."""
    held = max(2, round(HELD_BACK * len(days)))
    profile = np.median(days[:-held], axis=0)
    late = days[-held:]
    whole = float((late**2).sum())
    explained = 1 - float(((late - profile) ** 2).sum()) / whole if whole > 0 else 0.0
    amplitude = float(np.ptp(profile))
    enough = LEAST_AMPLITUDE * floors.effect(CATALOGUE[name]).absolute
    used = explained >= LEAST_EXPLAINED and amplitude > max(enough, 0.0)
    hours = np.median(days, axis=0) if used else np.zeros(HOURS)
    return Season(explained_ratio=explained, amplitude=amplitude, used=used), hours
