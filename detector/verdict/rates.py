"""How often healthy history shows a deviation at least as strong: the currency of the budget.

A series' *strength* is a leaky mean of how far it is off (`persistence.severity`), so that one
sample is little. An episode is one rise and fall of it. Per class (whose deviation it is, and the
signal) the peaks of episodes are counted, pooled over all series, and their tail goes on as a
generalised Pareto distribution fitted by moments (Hosking and Wallis 1987). `per_day` then is how
many episodes a day of that class are at least as strong, over the whole fleet.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.series import CLASS, F32, F64, SIGNALS, Ints

OWN, TWINS, TOLD = range(3)  # against itself, against its twins, found by a watcher
BINS, STEP = 160, 0.05  # strengths of 0 to 8; a severity of 300 has 6.7
LEAST = 0.25  # a weaker rise is no episode: a quarter of what matters
MEMORY_DAYS = 30.0
KNOWN_DAYS = 1.0  # of history before rates are spoken of
PRIOR_EPISODES, PRIOR_SCALE = 0.5, 0.5  # half an episode, ten times rarer for each 1.15 more
TAIL_SHARE, TAIL_LEAST = 0.1, 30  # of the episodes, and so many, make the tail
SHAPE_MOST = 0.5  # beyond it a tail has no variance
SECONDS_A_DAY = 86_400.0
# An emitted finding may be so many times as frequent as the whole budget: decide then chooses.
OFFERED = 4.0
EDGES: F64 = np.arange(BINS, dtype=np.float64) * STEP
CENTRES: F64 = EDGES + STEP / 2
FIRST = round(LEAST / STEP)


class Tail(NamedTuple):
    """A generalised Pareto tail beyond `start`, which so many `episodes` exceed."""

    start: float
    episodes: float
    scale: float
    shape: float

    def beyond(self, strength: F64) -> F64:
        """Return how many episodes are at least so strong."""
        excess = np.maximum(strength - self.start, 0.0)
        if self.shape < 1e-3:
            return self.episodes * np.exp(-excess / self.scale)
        found: F64 = self.episodes * (1 + self.shape * excess / self.scale) ** (-1 / self.shape)
        return found


class Rates:
    """Counts episodes by class and says how frequent a strength is; forgets over a month."""

    def __init__(self) -> None:
        shape = (3, len(SIGNALS))
        self.counts: F64 = np.zeros((*shape, BINS))
        self.days: F64 = np.zeros(shape)  # of history behind them
        self.levels: F32 = np.full(shape, np.inf, np.float32)  # from here on a finding is offered
        self._table: F64 = np.full((*shape, BINS), np.nan)

    def note(self, kind: int, klass: Ints, peaks: F32) -> None:
        """Count episodes that ended, by the class of their signal."""
        bins = np.minimum(peaks / STEP, BINS - 1).astype(np.int64)
        np.add.at(self.counts[kind], (klass, bins), 1.0)

    def pass_time(self, seconds: float, present: NDArray[np.bool_]) -> None:
        """Let time pass for the classes that are present."""
        fade = np.exp(-seconds / SECONDS_A_DAY / MEMORY_DAYS)
        self.counts *= fade
        self.days = self.days * fade + seconds / SECONDS_A_DAY * present

    def rebuild(self, budget: float) -> None:
        """Make rates anew, and levels from which on a finding is offered (see OFFERED)."""
        for kind, klass in zip(*np.nonzero(self.days >= KNOWN_DAYS), strict=True):
            row = per_day(self.counts[kind, klass], self.days[kind, klass])
            self._table[kind, klass] = row
            offered = np.flatnonzero(row[FIRST:] <= OFFERED * budget)
            level = EDGES[FIRST + offered[0]] if len(offered) else np.inf
            self.levels[kind, klass] = level

    def per_day(self, kind: int, signal: str, strength: float) -> float | None:
        """Return the rate of a strength in the class of a signal; None while it is not known."""
        place = min(int(strength / STEP), BINS - 1)
        found = float(self._table[kind, CLASS[signal], place])
        return None if np.isnan(found) else found


def per_day(counts: F64, days: float) -> F64:
    """Return episodes a day at or beyond each bin's edge, never increasing."""
    empirical = counts[::-1].cumsum()[::-1]
    prior = PRIOR_EPISODES * np.exp(-np.maximum(EDGES - LEAST, 0) / PRIOR_SCALE)
    tail = fit(counts)
    smooth = empirical if tail is None else np.where(
        tail.start <= EDGES, tail.beyond(EDGES), empirical
    )  # fmt: skip
    found: F64 = (smooth + prior) / days
    return found


def fit(counts: F64) -> Tail | None:
    """Fit the tail of binned peaks; None where there is no episode.

    With mean m and variance v of the excesses: shape (1 - m^2/v) / 2, scale m (m^2/v + 1) / 2; a
    shape below 0 is taken as 0, since a tail that ends would promise what nobody knows.
    """
    beyond = counts[::-1].cumsum()[::-1]
    if beyond[0] <= 0:
        return None
    wanted = max(TAIL_SHARE * beyond[0], min(TAIL_LEAST, beyond[0]))
    first = int(np.flatnonzero(beyond >= wanted - 1e-9)[-1])
    weight = counts[first:]
    excess = CENTRES[first:] - EDGES[first]
    mean = float((weight * excess).sum() / weight.sum())
    variance = float((weight * (excess - mean) ** 2).sum() / weight.sum()) + STEP**2 / 12
    ratio = mean**2 / variance
    shape = float(np.clip((1 - ratio) / 2, 0.0, SHAPE_MOST))
    scale = mean if shape == 0 else mean * (1 - shape)
    return Tail(float(EDGES[first]), float(beyond[first]), max(scale, STEP / 2), shape)
