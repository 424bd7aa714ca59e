"""What others would raise on the same frames: a score of every series and bucket, as published.

All learn from what comes before the first fault; scores are comparable over series.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from bench.recall_world import Floats, World
from forewarn.catalogue import CATALOGUE

HOUR = 360  # buckets of ten seconds
CHUNK = 4000


def spread_floor(world: World, learning: int) -> Floats:
    """Return the least spread a series is given: its quantum, 1 % of its mean, a rare count."""
    mean = np.abs(np.nanmean(world.values[:learning], axis=0))
    least = [
        max(CATALOGUE[signal].quantum or 0.0, 0.02 if "_total" in signal else 0.0, 1e-9)
        for signal, _ in world.series
    ]
    return np.maximum(0.01 * mean, np.array(least)).astype(np.float32)


def three_sigma(world: World, learning: int) -> Floats:
    """Return the distance from the learned mean in learned deviations."""
    early, floor = world.values[:learning], spread_floor(world, learning)
    mean, deviation = np.nanmean(early, axis=0), np.nanstd(early, axis=0)
    return np.abs(world.values - mean) / np.maximum(deviation, floor)


def rolling_robust(world: World, learning: int) -> Floats:
    """Return the distance from the median of the last hour, in 1.48 MAD; made anew every minute."""
    out = np.zeros_like(world.values)
    floor = spread_floor(world, learning)
    for at in range(learning, len(out), 6):
        past = world.values[max(0, at - HOUR) : at]
        middle = np.nanmedian(past, axis=0)
        spread = 1.4826 * np.nanmedian(np.abs(past - middle), axis=0)
        out[at : at + 6] = np.abs(world.values[at : at + 6] - middle) / np.maximum(spread, floor)
    return out


def adaptive_band(world: World, learning: int) -> Floats:
    """Return the distance from the hour's mean over the band of Grafana's promql rules (adaptive).

    The band is the larger of two smoothed deviations (where the variation is large) and half of
    the mean; values at and below zero are dropped, as its selector does.
    """
    values = np.where(world.values > 0, world.values, np.nan)
    out = np.zeros_like(world.values)
    for at in range(learning, len(out), 6):
        past, all_past = values[max(0, at - HOUR) : at], values[:at:6]
        mean, deviation = np.nanmean(past, axis=0), np.nanstd(all_past, axis=0)
        varied = np.where(deviation > 0.5 * mean, 2.0 * deviation, 0.0)
        band = np.maximum(varied, 0.5 * mean)
        out[at : at + 6] = np.abs(values[at : at + 6] - mean) / np.maximum(band, 1e-12)
    return np.nan_to_num(out)


def kmeans(world: World, learning: int) -> Floats:
    """Return Netdata's score: distance of differences to two centres, by the range in training.

    Vectors are first differences, averaged over three, with five lags; two centres a series.
    """
    out = np.zeros_like(world.values)
    for first in range(0, world.values.shape[1], CHUNK):
        part = np.nan_to_num(world.values[:, first : first + CHUNK])
        vectors = _vectors(part)  # time by series by 6
        early = vectors[: learning - 8]
        centres = _two_centres(early)
        distance = np.mean([_apart(vectors, own) for own in centres], axis=0)
        low, high = distance[: len(early)].min(axis=0), distance[: len(early)].max(axis=0)
        score = (distance - low) / np.maximum(high - low, 1e-9 + 1e-3 * np.abs(high))
        out[len(out) - len(score) :, first : first + CHUNK] = score
    return out


def _vectors(values: Floats) -> Floats:
    moved = np.diff(values, axis=0)
    smooth = (moved[2:] + moved[1:-1] + moved[:-2]) / 3.0
    lags = [smooth[5 - lag : len(smooth) - lag] for lag in range(6)]
    return np.stack(lags, axis=2)


def _apart(vectors: Floats, centre: Floats) -> Floats:
    distance: Floats = np.sqrt(((vectors - centre) ** 2).sum(axis=2))
    return distance


def _two_centres(early: Floats) -> tuple[Floats, Floats]:
    """Return two centres of each series by a few rounds of Lloyd, begun at the extremes."""
    size = np.linalg.norm(early, axis=2)
    series = np.arange(early.shape[1])
    one, two = early[size.argmin(axis=0), series], early[size.argmax(axis=0), series]
    for _ in range(5):
        near = (_apart(early, one) <= _apart(early, two))[:, :, None]
        one = (early * near).sum(axis=0) / np.maximum(near.sum(axis=0), 1)
        two = (early * ~near).sum(axis=0) / np.maximum((~near).sum(axis=0), 1)
    return one, two


def forest(world: World, learning: int, nodes: int) -> Floats:
    """Return IsolationForest's score of each node over all its gauges and rates: time by node."""
    columns: dict[int, list[int]] = {}
    for number, own in enumerate(world.nodes):
        if len(own) == 1:
            columns.setdefault(next(iter(own)), []).append(number)
    out = np.zeros((len(world.values), nodes), np.float32)
    for node, own in columns.items():
        values = np.nan_to_num(world.values[:, own])
        model = IsolationForest(n_estimators=100, random_state=0).fit(values[6:learning])
        out[:, node] = -model.score_samples(values)
    return out


# Published limits (NVSentinel's NIC monitor, gpud, gcm, ByteRobust, ASHRAE): signal, kind, limit.
LIMITS: dict[str, tuple[str, float]] = {
    "nic_link_downed_total": ("above", 0.0), "nic_symbol_errors_total": ("above", 10.0),
    "nic_link_recoveries_total": ("above", 5 / 60), "nic_rx_errors_total": ("above", 10.0),
    "nic_tx_discards_total": ("above", 100.0), "nic_carrier_changes_total": ("above", 0.2),
    "gpu_throttle_thermal_seconds_total": ("above", 0.01),
    "gpu_throttle_power_brake_seconds_total": ("above", 0.0),
    "gpu_temperature_celsius": ("above", 85.0), "gpu_ecc_uncorrected_errors_total": ("above", 0.0),
    "gpu_row_remap_failed": ("above", 0.0), "gpu_row_remap_pending": ("above", 0.0),
    "rack_inlet_temperature_celsius": ("above", 27.0), "nic_link_up": ("below", 1.0),
    "node_filesystem_used_ratio": ("above", 0.95),
    "node_filesystem_inodes_used_ratio": ("above", 0.95),
    "storage_target_used_ratio": ("above", 0.95), "switch_up": ("below", 1.0),
    "node_gpus_present": ("below", 4.0), "node_clock_offset_seconds": ("above", 0.05),
    "node_memory_ecc_uncorrected_errors_total": ("above", 0.0),
}  # fmt: skip
JUMP = 5.0  # of loss or gradient norm over the median of what came before (ByteRobust)
SLOWER = 0.05  # of the mean of the last 50 iterations over the recent best (EROICA)
FATAL = frozenset("nvidia.xid:" + code for code in "48 62 64 74 79 94 95 119 120 140 143".split())


def static(world: World, learning: int) -> NDArray[np.bool_]:
    """Return where published limits are crossed: time by series."""
    out = np.zeros(world.values.shape, bool)
    for number, (signal, _) in enumerate(world.series):
        values = world.values[:, number]
        if signal in LIMITS:
            way, limit = LIMITS[signal]
            out[:, number] = values > limit if way == "above" else values < limit
        elif signal in {"job_loss", "job_gradient_norm"}:
            out[:, number] = values > JUMP * np.nanmedian(values[:learning])
        elif signal == "job_step_seconds":
            out[:, number] = _slower(values)
    for bucket, number in world.nans:
        out[bucket, number] = True
    return out


def _slower(values: Floats) -> NDArray[np.bool_]:
    """Return where the mean of two minutes is 5 % over the best of the hour before."""
    means = np.convolve(np.nan_to_num(values), np.ones(12) / 12, mode="full")[: len(values)]
    out = np.zeros(len(values), bool)
    for at in range(60, len(values)):
        best = means[max(12, at - HOUR) : at].min()
        out[at] = best > 0 and means[at] > (1 + SLOWER) * best
    return out


METHODS = {
    "3 sigma": three_sigma, "robust rolling z (1 h)": rolling_robust,
    "PromQL adaptive band": adaptive_band, "Netdata-style k-means": kmeans,
}  # fmt: skip
