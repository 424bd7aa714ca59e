"""What the model learns: loss and gradient norm by step, and how they end in NaN."""

import math

import numpy as np

from simulator.knobs import Gradient
from simulator.seeds import generator

LOSS_FLOOR, LOSS_SPAN, LOSS_STEPS = 2.1, 1.2, 4000.0  # nats; a run some way in
LOSS_NOISE = 0.012  # relative, from batch to batch
GRADIENT_NORM, GRADIENT_NOISE = 0.42, 0.08  # noise in log
# Once updates are this many times too large the loss leaves its curve.
LOSS_FOLLOWS_ABOVE = 4.0


class Curve:
    """The training curve of one job."""

    def __init__(self, seed: int, job: str, first_step: int) -> None:
        self._noise = generator(seed, f"training:{job}")
        self._first = first_step

    def at(self, step: int, gradient: Gradient) -> tuple[float, float]:
        """Return loss and gradient norm of a step; both NaN once the weights are."""
        batch, norm = self._noise.normal(), self._noise.normal()
        if gradient.is_nan:
            return math.nan, math.nan
        seen = self._first + step
        loss = LOSS_FLOOR + LOSS_SPAN * math.exp(-seen / LOSS_STEPS)
        if gradient.factor > LOSS_FOLLOWS_ABOVE:
            loss *= 1.0 + 0.1 * math.log(gradient.factor / LOSS_FOLLOWS_ABOVE)
        loss *= gradient.loss
        norm_now = GRADIENT_NORM * gradient.factor * np.exp(GRADIENT_NOISE * norm)
        return loss * (1.0 + LOSS_NOISE * batch), float(norm_now)
