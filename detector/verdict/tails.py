"""Surprise from tails: how rare a standardised residual is in its class, honestly.

Per class (signal) a histogram of what was seen, pooled over all its series and taken once a
minute, is joined to a prior that decays slower than a normal tail. Beyond the largest bin that
holds enough, an exponential tail goes on (a generalised Pareto with shape 0).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.series import F32, SIGNALS, Bool

BINS, STEP = 256, 0.125  # residuals of 0 to 32 scales
PRIOR_WEIGHT = 2000.0  # samples that the prior counts for
PRIOR_DECADES = 0.6  # the prior tail: p = 10^(-0.6 z), far heavier than a normal one
ENOUGH = 20.0  # samples beyond a bin that make its empirical share trusted
FORGET = 0.9997  # per minute: a memory of about two days
MAX_SURPRISE = 300.0
MANY = 10_000.0  # samples that make a share of 1 % known to a tenth
RARE = 2.0  # -log10 of 0.01: the share that calibration is watched by


class Tails:
    """One table of surprise per class; `table[class, bin]` is rebuilt once a minute."""

    def __init__(self) -> None:
        self.counts: NDArray[np.float64] = np.zeros((len(SIGNALS), BINS))
        edges = np.arange(BINS) * STEP
        self.seen = self.rare = 0  # since the last rebuild: all, and those with p < 0.01
        self.ever: NDArray[np.int64] = np.zeros((2, len(SIGNALS)), np.int64)  # likewise, by class
        self._recent: NDArray[np.float64] = np.zeros((2, len(SIGNALS)))  # likewise, fading
        self._prior = np.minimum(1.0, 10.0 ** (-PRIOR_DECADES * edges))
        self.table: F32 = np.tile(-np.log10(self._prior), (len(SIGNALS), 1)).astype(np.float32)

    def surprise(self, klass: NDArray[np.int16], z: F32) -> F32:
        """Return -log10 p of residuals; z <= 0 (or NaN) is no surprise."""
        bins = np.minimum(np.nan_to_num(np.maximum(z, 0.0)) / STEP, BINS - 1).astype(np.int32)
        found: F32 = self.table[klass, bins]
        return found

    def observe(self, klass: NDArray[np.int16], z: F32, mask: Bool) -> None:
        """Count residuals of quiet series; the order does not matter."""
        z, klass = np.maximum(z[mask], 0.0), klass[mask]
        bins = np.minimum(z / STEP, BINS - 1).astype(np.int64)
        self.seen += len(bins)
        rare = self.table[klass, bins] >= RARE
        self.rare += int(rare.sum())
        more = np.array([np.bincount(own, minlength=len(SIGNALS)) for own in (klass, klass[rare])])
        self.ever += more
        self._recent += more
        flat = np.bincount(klass.astype(np.int64) * BINS + bins, minlength=self.counts.size)
        self.counts += flat.reshape(self.counts.shape)

    def adopt(self, classes: NDArray[np.int64], counts: NDArray[Any]) -> None:
        """Take trained counts, [class, bin], where fewer were seen here."""
        more = counts.sum(axis=1) > self.counts[classes].sum(axis=1)
        self.counts[classes[more]] = counts[more]
        self.rebuild()

    def rebuild(self) -> None:
        """Make the table anew from what was counted, and forget a little."""
        known = np.flatnonzero(self.counts.any(axis=1))
        if len(known):
            self.table[known] = self._curves(self.counts[known])
        self.counts *= FORGET
        self._recent *= FORGET
        self.seen = self.rare = 0

    def calibration(self) -> dict[str, float]:
        """Return by signal the share of samples with p < 0.01 of late, where it is known well."""
        seen, rare = self._recent
        known = np.flatnonzero(seen >= MANY)
        return {SIGNALS[own].name: float(rare[own] / seen[own]) for own in known}

    def _curves(self, counts: NDArray[np.float64]) -> NDArray[Any]:
        """Return -log10 of the share at or beyond each bin, never decreasing; [class, bin]."""
        beyond = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
        total = beyond[:, :1]
        share = (beyond + PRIOR_WEIGHT * self._prior) / (total + PRIOR_WEIGHT)
        known = np.maximum((beyond >= ENOUGH).sum(axis=1) - 1, 0)[:, None]
        at = np.arange(BINS)
        excess = np.maximum(at - known, 0) * (STEP * PRIOR_DECADES)
        last = np.take_along_axis(share, known, axis=1)
        share = np.where(at >= known, np.maximum(last * 10.0**-excess, 1e-300), share)
        curve: NDArray[Any] = np.minimum(-np.log10(np.minimum(share, 1.0)), MAX_SURPRISE)
        return curve
