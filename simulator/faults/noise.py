"""The healthy noise that d' is measured against: counts of errors, durations of steps.

All are for the mean over the persistence window.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, cut
from simulator.step import COMPUTE_NOISE, EXCHANGE_NOISE

TYPICAL_STEP_SECONDS, EXCHANGE_SHARE = 2.4, 0.15


def counts(more: float, healthy: float) -> float:
    """Return the d' of `more` errors a second beside `healthy` ones: in deviations, at least 1."""
    deviation = math.sqrt(healthy * PERSISTENCE_SECONDS)
    return cut(more * PERSISTENCE_SECONDS / max(deviation, 1.0))


def computing(share: float) -> float:
    """Return the d' of one rank computing longer by a share."""
    return cut(share / (COMPUTE_NOISE / math.sqrt(_steps())))


def exchanging(share: float) -> float:
    """Return the d' of exchanges taking longer by a share."""
    return cut(share / (EXCHANGE_NOISE / math.sqrt(_steps())))


def stepping(share: float) -> float:
    """Return the d' of whole steps taking longer by a share."""
    noise = math.hypot(COMPUTE_NOISE, EXCHANGE_SHARE * EXCHANGE_NOISE)
    return cut(share / (noise / math.sqrt(_steps())))


def _steps() -> float:
    return max(PERSISTENCE_SECONDS / TYPICAL_STEP_SECONDS, 1.0)
