"""What others do with the same tables: each gives a score of every point, fitted on history.

`fit(history) -> score(readings) -> [time]`; both [time, signal]. They are re-creations of published
rules, run as their makers describe them where the data allow it; none is tuned on labels.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]
Fit = Callable[[Floats], Score]

LARGEST = 3
ROLLING = 300  # readings, of the rolling median
BAND, MARGIN, SMOOTH = 60, 0.5, 1560  # readings: an hour of mean, 50 % margin, 26 h of deviation
LAGS, SMOOTHED = 5, 3  # Netdata: five lags of differences, each a mean of three


def top(each: Floats) -> Floats:
    """Return the mean of the largest scores of signals."""
    found: Floats = np.sort(each, axis=1)[:, -LARGEST:].mean(axis=1)
    return found


def static(history: Floats) -> Score:
    """Fixed limits at what history never left: the published limits are of signals not here."""
    low, high = history.min(axis=0), history.max(axis=0)
    width = np.maximum(high - low, 1e-3)
    return lambda own: top(np.maximum(np.maximum(own - high, low - own) / width, 0))


def three_sigma(history: Floats) -> Score:
    """Distance from the mean of history, in its deviations."""
    mean, deviation = history.mean(axis=0), np.maximum(history.std(axis=0), 1e-3)
    return lambda own: top(np.abs(own - mean) / deviation)


def rolling_z(history: Floats) -> Score:
    """Distance from a rolling median, in rolling deviations (robust)."""

    def score(own: Floats) -> Floats:
        table = pd.DataFrame(np.vstack([history[-ROLLING:], own]))
        middle = table.rolling(ROLLING, min_periods=ROLLING // 2).median()
        away = (table - middle).abs()
        scale = 1.4826 * away.rolling(ROLLING, min_periods=ROLLING // 4).median()
        z = (away / scale.clip(lower=1e-2)).to_numpy()[-len(own) :]
        return top(np.nan_to_num(z))

    return score


def forest(history: Floats) -> Score:
    """Isolation forest of scikit-learn with its defaults, on all signals at once."""
    model = IsolationForest(random_state=0).fit(history)
    return lambda own: -np.asarray(model.score_samples(own), np.float64)


def promql_band(history: Floats) -> Score:
    """The adaptive rule of promql-anomaly-detection: an hour's mean with the widest margin."""

    def score(own: Floats) -> Floats:
        table = pd.DataFrame(np.vstack([history[-SMOOTH:], own]))
        mean = table.rolling(BAND, min_periods=1).mean().shift(1)
        deviation = table.rolling(BAND, min_periods=2).std().rolling(SMOOTH, min_periods=1).mean()
        margin = np.maximum(2 * deviation.shift(1), MARGIN * mean.abs()).clip(lower=1e-3)
        return top(np.nan_to_num(((table - mean).abs() / margin).to_numpy()[-len(own) :]))

    return score


def k_means(history: Floats) -> Score:
    """Netdata's: two clusters of differences a signal, scaled by the extremes of training."""
    models = [_one_model(history[:, at]) for at in range(history.shape[1])]

    def score(own: Floats) -> Floats:
        each = [_scaled(own[:, at], *model) for at, model in enumerate(models)]
        return np.mean(each, axis=0)

    return score


def _vectors(series: Floats) -> Floats:
    change = np.diff(series, prepend=series[0])
    smooth = np.convolve(change, np.ones(SMOOTHED) / SMOOTHED, mode="full")[: len(change)]
    padded = np.concatenate([np.repeat(smooth[0], LAGS), smooth])
    return np.lib.stride_tricks.sliding_window_view(padded, LAGS + 1)


def _distance(vectors: Floats, centres: Floats) -> Floats:
    return np.linalg.norm(vectors[:, None] - centres[None], axis=2).mean(axis=1)


def _one_model(series: Floats) -> tuple[Floats, float, float]:
    vectors = _vectors(series)
    centres = KMeans(2, n_init=1, random_state=0).fit(vectors[::3]).cluster_centers_
    seen = _distance(vectors, centres)
    return centres, float(seen.min()), float(seen.max())


def _scaled(series: Floats, centres: Floats, low: float, high: float) -> Floats:
    distance = _distance(_vectors(series), centres)
    return np.clip((distance - low) / max(high - low, 1e-9), 0, None)


METHODS: dict[str, Fit] = {
    "static limits (extremes of history)": static,
    "3 sigma": three_sigma,
    "robust rolling z": rolling_z,
    "IsolationForest": forest,
    "PromQL adaptive band": promql_band,
    "Netdata-style k-means": k_means,
}
