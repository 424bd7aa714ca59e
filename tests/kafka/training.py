"""A real training loop that diverges: `python -m tests.kafka.training SOCKET JOB STEPS SECONDS`.

Least squares by gradient descent. At half of the steps the learning rate is set beyond what the
curvature bears, so the loss grows without bound, to infinity and NaN; it goes on to the last step.
"""

import sys
import time

import numpy as np

from forewarn.reporter import Reporter

STABLE, UNSTABLE = 0.1, 1e18  # the largest eigenvalue is near 1: beyond 2 it diverges


def train(report: Reporter, steps: int, seconds: float) -> None:
    """Take `steps` of about `seconds` each and report every one."""
    random = np.random.default_rng(0)
    inputs = random.normal(size=(256, 16))
    targets = inputs @ random.normal(size=16) + random.normal(size=256) * 0.1
    weights = np.zeros(16)
    for step in range(steps):
        rate = STABLE if step < steps // 2 else UNSTABLE
        residual = inputs @ weights - targets
        gradient = inputs.T @ residual / len(targets)
        weights -= rate * gradient
        norm = float(np.linalg.norm(gradient))
        time.sleep(seconds)
        report.step(step, loss=float(residual @ residual), gradient_norm=norm, tokens=256)


if __name__ == "__main__":
    socket, job, count, each = sys.argv[1:]
    with np.errstate(all="ignore"), Reporter(job, rank=0, world_size=1, socket=socket) as reporter:
        train(reporter, int(count), float(each))
