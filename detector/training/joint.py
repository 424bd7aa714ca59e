"""Fits the models of the family joint to history: [time, signal] of one entity."""

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import LedoitWolf
from sklearn.decomposition import PCA

from detector.families.joint import (
    COMPONENTS,
    FACTORS,
    LEAST_DEVIATION,
    LEAST_SIGNALS,
    NEAR,
    TAIL_SHARE,
    WINDOW,
    Floats,
    Model,
    Scores,
    Tail,
    fuse,
    residual,
    score,
    stepped,
    windows,
)
from forewarn.catalogue import CATALOGUE, UNKNOWN

LEAST_READINGS = 10 * WINDOW
FITTED = 0.7  # of history: on the rest the scores of a first model show how rare they are
EVENTS_PER_DAY = 1.0  # of either limit, on that rest
SAME_SECONDS = 600.0  # readings beyond a limit within so long are one event
UNUSUAL, LEAST_SPREAD = 0.99, 0.05  # of the forecast's residuals, in deviations of the signal
OFTEN = 0.01  # of readings: a signal that rises so often and never falls is a counter
RIDGE = 10.0  # readings that "no influence" counts for
EVERY_FIT, EVERY_KEPT, MOST_KEPT = 5, 3, 8000  # windows overlap: some will do
DAY = 86_400.0
MOST_LEVELS = 600


def fit(signals: tuple[str, ...], readings: Floats, period_seconds: float) -> Model | None:
    """Return the model of an entity; None where there is too little to learn from.

    Fewer than LEAST_SIGNALS will do where the catalogue knows none of them: nobody else judges
    those by more than their level.

    `readings` [time, d] are in the order of time and whole: what was not read holds its last value.
    """
    readings = readings.astype(np.float64)
    plain = all(CATALOGUE[own].layer == UNKNOWN for own in signals if own in CATALOGUE)
    least = 1 if plain else LEAST_SIGNALS
    if len(readings) < LEAST_READINGS or readings.shape[1] < least:
        return None
    cut = int(FITTED * len(readings))
    rising = _rising(readings)
    first = _fit(signals, readings[:cut], rising)
    held = score(first, readings[cut - WINDOW + 1 :])
    model = _fit(signals, readings, rising)._replace(
        tails=(_tail(held.together), _tail(held.shape), _tail(held.leap))
    )
    return _limited(model, held, (len(readings) - cut) * period_seconds / DAY, period_seconds)


def _rising(readings: Floats) -> NDArray[np.bool_]:
    """Say which signals are counters, whatever they are called."""
    steps = np.diff(readings, axis=0)
    found: NDArray[np.bool_] = (steps >= 0).all(axis=0) & ((steps > 0).mean(axis=0) > OFTEN)
    return found


def _fit(signals: tuple[str, ...], readings: Floats, rising: NDArray[np.bool_]) -> Model:
    readings = stepped(readings, rising)
    centre = readings.mean(axis=0)
    deviation = np.maximum(readings.std(axis=0), LEAST_DEVIATION * np.maximum(1, np.abs(centre)))
    near = np.clip((readings - centre) / deviation, -NEAR, NEAR)
    middle, components, known = _windows(near)
    factors = _factors(near)
    forecast = _forecast(near, factors)
    model = Model(
        signals, rising, centre, deviation, LedoitWolf().fit(near).precision_, middle, components,
        known, factors, forecast, np.ones(len(centre)),
    )  # fmt: skip
    return model._replace(spread=_spread(model, near))


def _windows(near: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean window, the principal components of windows, and those of history in them."""
    some = windows(near)[::EVERY_FIT]
    count = min(COMPONENTS, *some.shape)
    found = PCA(count, svd_solver="randomized", random_state=0).fit(some)
    every = max(EVERY_KEPT, len(near) // MOST_KEPT)
    components = np.asarray(found.components_.T, np.float64)
    return found.mean_, components, (windows(near)[::every] - found.mean_) @ components


def _factors(near: Floats) -> Floats:
    count = min(FACTORS, near.shape[1])
    _, _, rows = np.linalg.svd(near[::EVERY_KEPT], full_matrices=False)
    factors: Floats = rows[:count].T
    return factors


def _forecast(near: Floats, factors: Floats) -> Floats:
    """Return the ridge of each signal on itself and the factors one reading before."""
    before = np.vstack([near[:1], near[:-1]])
    inside, found = before @ factors, []
    for own in range(near.shape[1]):
        x = np.column_stack([before[:, own], inside, np.ones(len(near))])
        hold = RIDGE * np.eye(x.shape[1])
        found.append(np.linalg.solve(x.T @ x + hold, x.T @ near[:, own]))
    return np.array(found, np.float64)


def _spread(model: Model, near: Floats) -> Floats:
    """Return how large the forecast's residuals are in their worst hundredth."""
    left = np.quantile(np.abs(residual(model, near)), UNUSUAL, axis=0)
    spread: Floats = np.maximum(left, LEAST_SPREAD)
    return spread


def _tail(scores: Floats) -> Tail:
    ordered = np.sort(scores)
    edge = ordered[int((1 - TAIL_SHARE) * len(ordered))]
    beyond = ordered[ordered > edge] - edge
    return Tail(ordered, max(float(beyond.mean()) if len(beyond) else 0.0, 1e-9))


def _limited(model: Model, held: Scores, days: float, period_seconds: float) -> Model:
    """Set the limits so that history the model was not fitted to crosses each once a day."""
    fused, leap = fuse(model, held)
    count = EVENTS_PER_DAY * days
    return model._replace(
        fused_limit=_limit(fused, count, period_seconds),
        leap_limit=_limit(leap, count, period_seconds),
    )


def _limit(surprise: Floats, most: float, period_seconds: float) -> float:
    """Return the lowest level that is crossed at most so often."""
    levels = np.unique(np.quantile(surprise, np.linspace(0.9, 1, MOST_LEVELS)))[::-1]
    limit = float(levels[0]) * 1.0001
    apart = SAME_SECONDS / period_seconds
    for level in levels:
        if _events(surprise >= level, apart) > most:
            break
        limit = float(level)
    return limit


def _events(flags: NDArray[np.bool_], apart: float) -> int:
    at = np.flatnonzero(flags)
    return 0 if not len(at) else 1 + int((np.diff(at) > apart + 1).sum())
