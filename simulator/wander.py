"""Slow random wandering around a mean: Ornstein-Uhlenbeck processes, one beat at a time."""

import numpy as np

from simulator.fleet import Floats


def wander(value: Floats, sigma: float, seconds: float, noise: Floats, beat: float = 1.0) -> Floats:
    """Return a process of spread `sigma` and correlation time `seconds`, `beat` seconds later."""
    keep = np.exp(-beat / seconds)
    following: Floats = value * keep + sigma * np.sqrt(1.0 - keep**2) * noise
    return following


def settle(
    value: Floats, target: Floats | float, seconds: Floats | float, beat: float = 1.0
) -> None:
    """Move a first-order quantity towards its target for `beat` seconds, in place."""
    value += (target - value) * -np.expm1(-beat / seconds)
