"""Family joint: an entity as a whole, where each of its signals by itself may look normal.

Three views of one vector of readings, each against the entity's own history:

- *together*: Mahalanobis distance with a shrunk covariance (signals that do not fit each other);
- *shape*: distance of the last readings to the third nearest such window of history, in the space
  of its principal components, with what lies outside of it (a course that never was);
- *leap*: residual of a one-step forecast from the readings before (ridge on each signal itself and
  on principal components), the mean of the three largest.

Each becomes a surprise by its tail on history that the model was not fitted to, and what is fused
is the mean of their logarithms: no view alone wins everywhere (docs/benchmarks.md). Models are
fitted offline, by `detector.training.joint`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_SIGNALS = 5
WINDOW = 20  # readings
COMPONENTS = 30  # of windows
FACTORS = 12  # of one reading, for the forecast
NEIGHBOUR = 3
NEAR, FAR = 10.0, 30.0  # deviations beyond which more is not worse: of windows, of single readings
LEAST_DEVIATION = 1e-3
LARGEST = 3
TAIL_SHARE = 0.02  # of history beyond which the tail is taken to fall exponentially
MAX_SURPRISE = 300.0


class Tail(NamedTuple):
    """How rare a score is: sorted scores of history, and the mean excess of the largest."""

    scores: Floats
    excess: float

    def surprise(self, score: Floats) -> Floats:
        """Return -log10 of the share of history with as large a score."""
        count = len(self.scores)
        edge = self.scores[int((1 - TAIL_SHARE) * count)]
        share = 1 - np.searchsorted(self.scores, score, side="left") / (count + 1)
        inner = -np.log10(np.maximum(share, 1 / (count + 1)))
        outer = -np.log10(TAIL_SHARE) + (score - edge) / self.excess / np.log(10)
        found: Floats = np.minimum(np.where(score > edge, outer, inner), MAX_SURPRISE)
        return found


class Model(NamedTuple):
    """What is known of one entity with d signals, in the order of `signals`."""

    signals: tuple[str, ...]
    centre: Floats  # [d]
    deviation: Floats  # [d]
    precision: Floats  # [d, d]
    middle: Floats  # [d * WINDOW]: the mean window
    components: Floats  # [d * WINDOW, COMPONENTS]
    windows: Floats  # [n, COMPONENTS]: those of history
    factors: Floats  # [d, FACTORS]
    forecast: Floats  # [d, 2 + FACTORS]: of the signal itself, of the factors, constant
    spread: Floats  # [d]: of the forecast's residuals, their 99th percentile
    tails: tuple[Tail, Tail, Tail] | None = None  # together, shape, leap
    fused_limit: float = np.inf  # surprise beyond which it is told, of all views
    leap_limit: float = np.inf  # and of the leap alone


class Scores(NamedTuple):
    """Three views of readings, [time], and the part that each signal has in them, [time, d]."""

    together: Floats
    shape: Floats
    leap: Floats
    parts: Floats


def scaled(model: Model, readings: Floats) -> Floats:
    """Return readings [time, d] as deviations; what is missing is at its centre."""
    own: Floats = np.nan_to_num((readings - model.centre) / model.deviation)
    return own


def windows(near: Floats) -> Floats:
    """Return the last WINDOW readings at each time, [time - WINDOW + 1, d * WINDOW]."""
    view = np.lib.stride_tricks.sliding_window_view(near, WINDOW, axis=0)
    flat: Floats = view.reshape(len(view), -1)
    return flat


def score(model: Model, readings: Floats) -> Scores:
    """Score readings [time, d]; the first WINDOW - 1 rows are only what came before."""
    own = scaled(model, readings)
    far, first = np.clip(own, -FAR, FAR), WINDOW - 1
    weighed = far @ model.precision
    together = np.sqrt(np.maximum((weighed * far).sum(axis=1), 0))[first:]
    left = np.abs(residual(model, far)) / model.spread
    top = np.sort(np.clip(left, 0, FAR), axis=1)[first:, -LARGEST:]
    parts = np.abs(weighed * far)[first:] + left[first:] ** 2
    return Scores(together, _shape(model, np.clip(own, -NEAR, NEAR)), top.mean(axis=1), parts)


def residual(model: Model, far: Floats) -> Floats:
    """Return what the forecast from the reading before does not explain."""
    before = np.vstack([far[:1], far[:-1]])
    factors = before @ model.factors
    inside = factors @ model.forecast[:, 1:-1].T
    left: Floats = far - (before * model.forecast[:, 0] + inside + model.forecast[:, -1])
    return left


def _shape(model: Model, near: Floats) -> Floats:
    """Return how far the window at each time is from all of history."""
    apart = windows(near) - model.middle
    inner = apart @ model.components
    outside = np.maximum((apart**2).sum(axis=1) - (inner**2).sum(axis=1), 0)
    distance: Floats = np.sqrt(_nearest(model.windows, inner) + outside)
    return distance


def _nearest(known: Floats, asked: Floats) -> Floats:
    """Return the squared distance of each row to its NEIGHBOUR-th nearest, 500 at once."""
    size, found = (known**2).sum(axis=1), []
    for start in range(0, len(asked), 500):
        own = asked[start : start + 500]
        square = (own**2).sum(axis=1)[:, None] - 2 * own @ known.T + size
        found.append(np.partition(square, NEIGHBOUR - 1, axis=1)[:, NEIGHBOUR - 1])
    least: Floats = np.maximum(np.concatenate(found), 0)
    return least


def fuse(model: Model, scores: Scores) -> tuple[Floats, Floats]:
    """Return the fused surprise and that of the leap alone, -log10 p, [time]."""
    if model.tails is None:
        raise ValueError("joint: a model without tails scores nothing")
    views = (scores.together, scores.shape, scores.leap)
    each = [tail.surprise(own) for tail, own in zip(model.tails, views, strict=True)]
    return np.expm1(np.mean([np.log1p(own) for own in each], axis=0)), each[2]


class Follower:
    """Scores an entity reading by reading: keeps the last WINDOW of them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._held = np.repeat(model.centre[None], WINDOW, axis=0)
        self._begun = False

    def push(self, reading: Floats) -> tuple[float, float, Floats]:
        """Take one vector [d], NaN where nothing was read; return surprises and parts.

        The surprises are the fused one and that of the leap, -log10 p. What was not read keeps its
        latest value.
        """
        known = np.where(np.isnan(reading), self._held[-1], reading)
        if not self._begun:
            self._held[:], self._begun = known, True
        self._held = np.vstack([self._held[1:], known])
        scores = score(self.model, self._held)
        fused, leap = fuse(self.model, scores)
        return float(fused[0]), float(leap[0]), scores.parts[0]
