"""What raises an alarm on a hot GPU, and how it is judged: recall, delay, false episodes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.thermal_detector import Run, Scores
from bench.thermal_world import FAULT_SECONDS, LOADED_WATTS

K, N = 12, 16  # as the detector: k of the last n samples at 1 Hz
SETTLE_SECONDS = 1800  # after a fault: no healthy time yet
EPISODE_SECONDS = 300  # crossings nearer than this are one episode
FALSE_PER_HOUR = 1 / 1000
FOUND_SECONDS = 600
LOADED_SHARE = 0.6  # of the first ten minutes of a fault under load


def scores(run: Run, learning: int, width: int) -> dict[str, Scores]:
    """Return each method's score of every GPU and second; what they learn, of `learning` seconds.

    `width` GPUs stand in a node.
    """
    early = run.core[:learning]
    middle = np.median(early, axis=0)
    spread = 1.4826 * np.median(np.abs(early - middle), axis=0) + 0.5
    nodes = run.core.reshape(len(run.core), -1, width)
    apart = (nodes - np.median(nodes, axis=2, keepdims=True)).reshape(run.core.shape)
    usual = np.median(apart[:learning], axis=0)
    return {
        "static line, best possible": run.core,
        "robust z per GPU, unconditional": (run.core - middle) / spread,
        "peers in the node": apart,
        "peers in the node, usual distance taken off": apart - usual,
        "context, temperature only": run.heat,
    }


def lasting(score: Scores) -> Scores:
    """Return the K-th largest of the last N scores: at or above a threshold K of N times."""
    out = np.full(score.shape, -np.inf, np.float32)
    for first in range(0, score.shape[1], 16):
        part = np.lib.stride_tricks.sliding_window_view(score[:, first : first + 16], N, axis=0)
        out[N - 1 :, first : first + 16] = np.partition(part, N - K, axis=2)[:, :, N - K]
    return out


class Judged(NamedTuple):
    """How a method did: share found of the faults under load and of all, median delay, rate."""

    loaded: float
    every: float
    delay_seconds: float
    false_per_1000_hours: float


class Faults:
    """When each GPU was faulty, under load, and healthy for certain."""

    def __init__(self, onset: NDArray[np.int64], run: Run, learning: int, width: int) -> None:
        self.onset, shape = onset, run.core.shape
        busy = [
            run.watts[o : o + FOUND_SECONDS, g] > LOADED_WATTS for g, o in enumerate(self.onset)
        ]
        self.loaded = np.array([own.mean() >= LOADED_SHARE for own in busy])
        self.healthy = np.ones(shape, np.bool_)
        for gpu, begun in enumerate(onset):
            self.healthy[begun : begun + FAULT_SECONDS + SETTLE_SECONDS, gpu] = False
        self.healthy[:learning] = False
        self.hours = float(self.healthy.sum()) / 3600
        self.nodes_healthy = self.healthy.reshape(shape[0], -1, width).all(axis=2)

    def episodes(self, high: NDArray[np.bool_], healthy: NDArray[np.bool_]) -> int:
        """Count rises in healthy time that are no part of the episode before."""
        seconds, which = np.nonzero((high & healthy).T)[::-1]
        new = np.diff(seconds) > EPISODE_SECONDS
        return int((new | (np.diff(which) > 0)).sum()) + bool(len(seconds))

    def threshold(self, score: Scores) -> float:
        """Return the lowest threshold with at most FALSE_PER_HOUR episodes."""
        allowed = int(FALSE_PER_HOUR * self.hours)
        low, high = float(np.median(score[self.healthy])), float(score[self.healthy].max()) + 1e-3
        for _ in range(18):
            middle = (low + high) / 2
            fits = self.episodes(score >= middle, self.healthy) <= allowed
            low, high = (low, middle) if fits else (middle, high)
        return high

    def judge(self, high: NDArray[np.bool_], false: int) -> Judged:
        """Say how a method did that raised `high`, with `false` episodes in healthy time."""
        delay = np.array([_first(high[o : o + FAULT_SECONDS, g]) for g, o in enumerate(self.onset)])
        found = delay <= FOUND_SECONDS
        middle = float(np.median(delay[found])) if found.any() else np.inf
        return Judged(float(found[self.loaded].mean()), float(found.mean()), middle,
                      1000 * false / self.hours)  # fmt: skip


def _first(high: NDArray[np.bool_]) -> float:
    """Return the first second that is high, beginning low; infinite if there is none."""
    return float(high.argmax()) if high.any() and not high[0] else np.inf
