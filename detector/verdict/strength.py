"""How strongly a series is off, not by one sample but for a while: what the budget is spent by.

The severity of a sample is the smaller of its surprise and its effect, each in what a finding
needs, beyond 1 only its logarithm; strength is a leaky mean of it, in which a rise to the other
side cancels. An episode ends when its strength has halved; a series tells one in six hours.
"""

from dataclasses import dataclass, field

import numpy as np

from detector.series import F32, F64, Bool, Ints, Rows
from detector.verdict.rates import LEAST, Rates

SURPRISE = 3.0  # -log10 p of one sample: what a finding needs
NOTE_SECONDS = 6 * 3600.0
NOTHING = np.zeros(0, np.int64)


def severity(surprise: F32, effect: F32) -> F32:
    """Return the signed severity of samples; `surprise` is -log10 p, `effect` in floors."""
    size = np.minimum(surprise / np.float32(SURPRISE), np.abs(effect))
    size = np.minimum(size, 1) + np.log(np.maximum(size, 1))
    found: F32 = np.where(effect < 0, -size, size).astype(np.float32)
    return found


@dataclass(slots=True, eq=False)
class Strengths:
    """Strengths of so many series, and the peaks of their episodes."""

    held: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    peak: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    noted: F64 = field(default_factory=lambda: np.zeros(0))

    def grow(self, size: int) -> None:
        """Make room for `size` series."""
        more = size - len(self.held)
        if more > 0:
            self.held = np.append(self.held, np.zeros(more, np.float32))
            self.peak = np.append(self.peak, np.zeros(more, np.float32))
            self.noted = np.append(self.noted, np.full(more, -np.inf))

    def move(self, rows: Rows | Ints, severe: F32, gain: F32 | float, moved: Bool) -> F32:
        """Take one sample each; return the strengths."""
        before = self.held[rows]
        after = np.where(moved, before + (severe - before) * gain, before).astype(np.float32)
        self.held[rows] = after
        size: F32 = np.abs(after)
        self.peak[rows] = np.maximum(self.peak[rows], size)
        return size

    def end(self, rows: Rows, size: F32, time: F64, rates: Rates, kind: int, klass: Ints) -> None:
        """Count the episodes that are over; `time` in seconds, `klass` of the signals."""
        peak = self.peak[rows]
        over = np.flatnonzero((size <= peak / 2) & (peak > 0))
        if len(over):
            own = over + (rows.start or 0) if isinstance(rows, slice) else rows[over]
            self._note(own, time[over], rates, kind, klass[over])
            self.peak[own] = size[over]

    def _note(self, own: Ints, time: F64, rates: Rates, kind: int, klass: Ints) -> None:
        told = (self.peak[own] >= LEAST) & ~(time < self.noted[own] + NOTE_SECONDS)
        if told.any():
            rates.note(kind, klass[told], self.peak[own[told]])
            self.noted[own[told]] = time[told]

    def forget(self, rows: Ints, time: F64, rates: Rates, kind: int, klass: Ints) -> None:
        """Begin anew, with another job or device: what went on until now is counted."""
        self._note(rows, time, rates, kind, klass)
        self.held[rows] = self.peak[rows] = 0
