"""Slow random wandering around a mean: Ornstein-Uhlenbeck processes, one second at a time."""

import numpy as np

from simulator.fleet import Floats


def wander(value: Floats, sigma: float, seconds: float, noise: Floats) -> Floats:
    """Return the next second of a process of spread `sigma` and correlation time `seconds`."""
    keep = np.exp(-1.0 / seconds)
    following: Floats = value * keep + sigma * np.sqrt(1.0 - keep**2) * noise
    return following


def settle(value: Floats, target: Floats | float, seconds: Floats | float) -> None:
    """Move a first-order quantity towards its target for one second, in place."""
    value += (target - value) * -np.expm1(-1.0 / seconds)
