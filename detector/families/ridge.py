"""Many small ridge regressions at once, shrunk to coefficients pooled over their model.

beta_i = argmin sum (y - x b)^2 + (b - pooled)' L (b - pooled), L = PRIOR_SAMPLES x the variance of
x within devices; the first feature is the constant and is left free. Normal equations are gathered
per minute and wait in a ring before they are committed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.series import F32, F64, Bool, Ints

RING, CHUNK_MINUTES = 3, 5  # minutes wait in chunks: 10 to 15 of them, to save memory
SOLVE_MINUTES, YOUNG_MINUTES = 10, 30.0  # pools with a member this young are solved each minute
EAGER_MINUTES = 8.0  # while younger than this, minutes are committed at once
READY_SAMPLES, READY_MINUTES = 120.0, 10.0  # whichever comes first: slow signals have fewer
LEAST_SAMPLES = 30.0
LEAST_LOAD = 1.5  # load units, root mean square: less says nothing of a resistance
PRIOR_SAMPLES = 30.0
LEAST_VARIANCE, NO_PRIOR = 1e-2, 1e-6
KEEP = 0.5 ** (1 / 720)  # per minute: half of it forgotten in 12 hours
CLIP = 4.0  # residuals beyond this many scales do not widen the scale
FROZEN_SHARE = 1 / 6  # of a minute: then the minutes that wait are cut out as well
CORRELATED = 20.0  # residuals of a second resemble each other: 20 samples tell what one would
FIRST_SCALE = 1.5
SCALE_SAMPLES = 60.0
POOL_SAMPLES = 36_000.0  # a trained pool counts for so many at most: what is seen now wins in time


class Ridge:
    """The regressions of one block; row i is the i-th series that was added."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._width = size * size + size + 3  # A, b, n, residuals: sum of |.|, count
        self.pool: Ints = np.zeros(0, np.int64)
        self.minute: F64 = np.zeros((0, self._width))
        self.ring: F32 = np.zeros((RING, 0, self._width), np.float32)
        self.committed: F64 = np.zeros((0, self._width))
        self.minutes: F64 = np.zeros(0)
        self.beta: F64 = np.zeros((0, size))
        self.cover: F64 = np.zeros((0, size, size))
        self.scale: F64 = np.zeros(0)
        self.solved: Bool = np.zeros(0, np.bool_)  # only then a residual means something
        self._held: Ints = np.zeros(0, np.int64)
        self._trained: dict[int, F64] = {}  # sums of a pool, within devices
        self._turn = 0

    def add(self, pools: list[int]) -> None:
        """Add regressions, each shrunk to its pool."""
        more, n = len(pools), self._size
        rows = np.zeros((more, self._width))
        self.pool = np.append(self.pool, pools)
        self.minute, self.committed = (
            np.vstack([self.minute, rows]),
            np.vstack([self.committed, rows]),
        )
        self.ring = np.concatenate(
            [self.ring, np.zeros((RING, more, self._width), np.float32)], axis=1
        )
        self.minutes = np.append(self.minutes, np.zeros(more))
        self._held = np.append(self._held, np.zeros(more, np.int64))
        self.beta = np.vstack([self.beta, np.zeros((more, n))])
        self.cover = np.concatenate([self.cover, np.zeros((more, n, n))])
        self.scale = np.append(self.scale, np.full(more, FIRST_SCALE))
        self.solved = np.append(self.solved, np.zeros(more, np.bool_))

    def expect(self, x: F64, which: Bool) -> tuple[F64, F64]:
        """Return expected values and scales; a scale widens away from what was learned on."""
        x = x[which]
        expected = (x * self.beta[which]).sum(axis=1)
        leverage = ((self.cover[which] @ x[:, :, None])[:, :, 0] * x).sum(axis=1)
        scale: F64 = self.scale[which] * np.sqrt(1 + CORRELATED * np.maximum(leverage, 0))
        return expected, scale

    def ready(self) -> Bool:
        """Say which have seen enough."""
        count = self.committed[:, -3]
        slow = (self.minutes >= READY_MINUTES) & (count >= LEAST_SAMPLES)
        known = np.isin(self.pool, list(self._trained)) & (count >= LEAST_SAMPLES)
        enough: Bool = (count >= READY_SAMPLES) | slow | known
        return enough

    def mean(self, feature: int) -> F64:
        """Return the mean of a feature in what is committed, by row; 0 before there is any."""
        mean: F64 = self.committed[:, feature] / np.maximum(self.committed[:, -3], 1.0)
        return mean

    def change(self, reference: F64, weights: F64) -> F64:
        """Return how far the coefficients moved along `weights` since they were `reference`.

        Least squares with everything else held: w'(b - A r) / w'Aw, from what is committed, so over
        the last half day or so. NaN without enough load along `weights`. Arrays are [row, size].
        """
        n, own = self._size, self.committed
        a, b = own[:, : n * n].reshape(-1, n, n), own[:, n * n : n * n + n]
        left = b - (a @ reference[:, :, None])[:, :, 0]
        size = ((a @ weights[:, :, None])[:, :, 0] * weights).sum(axis=1)
        enough = size >= LEAST_LOAD**2 * np.maximum(own[:, -3], LEAST_SAMPLES)
        return np.where(enough, (left * weights).sum(axis=1) / np.where(enough, size, 1), np.nan)

    def absorb(self, x: F64, y: F64, residual: F64, take: Bool, held: Bool) -> None:
        """Add samples to the minute."""
        self._held += held
        rows = np.flatnonzero(take)
        if not len(rows):
            return
        x, clipped = x[rows], np.minimum(np.abs(residual[rows]), CLIP * self.scale[rows])
        n = self._size
        self.minute[rows, : n * n] += (x[:, :, None] * x[:, None, :]).reshape(len(rows), -1)
        self.minute[rows, n * n : n * n + n] += x * y[rows][:, None]
        judged = self.solved[rows]
        self.minute[rows, -3] += 1
        self.minute[rows, -2] += np.where(judged, clipped, 0)
        self.minute[rows, -1] += judged

    def learn(self) -> None:
        """Commit the minute (at once while young, else after the ring), and solve."""
        cut = self._held > FROZEN_SHARE * (self._held + self.minute[:, -3])
        self.ring[:, cut] = 0
        self.minute[cut] = 0
        eager = (self.minutes < EAGER_MINUTES)[:, None]
        chunk = (self._turn // CHUNK_MINUTES) % RING
        if self._turn % CHUNK_MINUTES == 0:  # what stands here waited
            self.committed += self.ring[chunk]
            self.ring[chunk] = 0
        self.committed = self.committed * KEEP + np.where(eager, self.minute, 0)
        self.ring[chunk] += np.where(eager, 0, self.minute)
        self._turn += 1
        self.minutes += self.minute[:, -3] > 0
        self.minute[:] = 0
        self._held[:] = 0
        young = self.pool[self.minutes < YOUNG_MINUTES]
        for pool in np.unique(self.pool if self._turn % SOLVE_MINUTES == 0 else young):
            self._solve(np.flatnonzero(self.pool == pool))

    def _solve(self, rows: Ints) -> None:
        """Solve one pool, then its members shrunk to it.

        The pool is fitted within devices: what differs between them (place, sensor) is no slope.
        """
        own, n = self.committed[rows], self._size
        total = self._sums(rows)
        if total[-3] < LEAST_SAMPLES:
            return
        a, b = own[:, : n * n].reshape(-1, n, n), own[:, n * n : n * n + n]
        within, moment = total[: n * n].reshape(n, n), total[n * n : n * n + n] / total[-3]
        variance = np.maximum(np.diag(within) / total[-3], LEAST_VARIANCE)
        variance[0] = NO_PRIOR
        pooled = np.linalg.solve(within / total[-3] + np.diag(variance * 1e-3), moment)
        prior = np.diag(variance * PRIOR_SAMPLES)
        self.cover[rows] = np.linalg.inv(a + prior)
        self.solved[rows] = True
        self.beta[rows] = (self.cover[rows] @ (b + prior @ pooled)[:, :, None])[:, :, 0]
        self._rescale(rows, own, total)

    def _sums(self, rows: Ints) -> F64:
        """Return the sums of one pool with what was trained of it, laid out as its members' are.

        Moments are taken within devices: around each device's own means.
        """
        own, n = self.committed[rows], self._size
        a, b = own[:, : n * n].reshape(-1, n, n), own[:, n * n : n * n + n]
        count = np.maximum(own[:, -3], 1.0)[:, None]
        within = (a - a[:, 0, :, None] * a[:, 0, None, :] / count[:, :, None]).sum(axis=0)
        moment = (b - a[:, 0, :] * b[:, :1] / count).sum(axis=0)
        sums = np.concatenate([within.ravel(), moment, own[:, -3:].sum(axis=0)])
        return sums + self._trained.get(int(self.pool[rows[0]]), 0.0)

    def pool_sums(self) -> dict[int, F64]:
        """Return the sums of every pool, for a model."""
        return {int(p): self._sums(np.flatnonzero(self.pool == p)) for p in np.unique(self.pool)}

    def trust(self, pool: int, sums: F64) -> None:
        """Begin a pool with what was trained of it; see `pool_sums` for the layout."""
        self._trained[pool] = sums * min(1.0, POOL_SAMPLES / max(float(sums[-3]), 1.0))

    def seed(self, row: int, equations: F64, minutes: float) -> None:
        """Begin one regression with what was trained of it."""
        self.committed[row], self.minutes[row] = equations, minutes

    def drain(self) -> None:
        """Commit what waits: nothing comes any more whose onset could be cut out."""
        self.committed += self.ring.sum(axis=0)
        self.ring[:] = 0

    def clear(self, which: Bool) -> None:
        """Take back what some have seen."""
        self.committed[which] = 0

    def solve(self) -> None:
        """Solve all anew from what is committed."""
        for pool in np.unique(self.pool):
            self._solve(np.flatnonzero(self.pool == pool))

    def _rescale(self, rows: Ints, own: F64, total: F64) -> None:
        """Shrink each scale (1.25 x mean |residual|) to the pool's."""
        pooled = total[-2] / total[-1] if total[-1] else FIRST_SCALE
        mean = (own[:, -2] + SCALE_SAMPLES * pooled) / (own[:, -1] + SCALE_SAMPLES)
        self.scale[rows] = np.maximum(1.25 * mean, 1e-3)

    def forget(self, which: Bool) -> None:
        """Begin some regressions anew."""
        self.minute[which] = self.committed[which] = 0
        self.ring[:, which] = 0
        self.minutes[which] = 0

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Copy what was learned."""
        return {"committed": self.committed.copy(), "minutes": self.minutes.copy(),
                "beta": self.beta.copy(), "cover": self.cover.copy(),
                "scale": self.scale.copy(), "solved": self.solved.copy()}  # fmt: skip

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Write a snapshot back; minutes that waited in the ring are lost."""
        for name in ("committed", "minutes", "beta", "cover", "scale", "solved"):
            setattr(self, name, arrays[name].copy())
