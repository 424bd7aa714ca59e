"""What happened while learning, hour by hour: from it the last days are judged afterwards."""

import numpy as np
from numpy.typing import NDArray

from detector.bundle import Checked, Validation
from detector.series import SIGNALS
from detector.verdict.tails import Tails
from forewarn.records import NANOSECONDS, Finding

LEARNED = frozenset({"band", "context"})
HELD_BACK = 0.2  # of the time, at its end: judged as it came, before it was learned from
HOUR, DAY = 3600.0, 86_400.0


class Course:
    """Cumulative counts at the beginning of each hour, and the findings."""

    def __init__(self, tails: Tails) -> None:
        self._tails = tails
        self._hours: list[float] = []
        self._counts: list[NDArray[np.int64]] = []
        self._opened: list[float] = []
        self.first, self.last = np.inf, -np.inf

    def at(self, seconds: float) -> None:
        """Take note that learning reached this time."""
        self.first, self.last = min(self.first, seconds), max(self.last, seconds)
        hour = seconds // HOUR * HOUR
        if not self._hours or hour > self._hours[-1]:
            self._hours.append(hour)
            self._counts.append(self._tails.ever.copy())

    def found(self, findings: list[Finding]) -> None:
        """Take findings of learned families that opened."""
        own = [f for f in findings if f.seq == 1 and f.family in LEARNED]
        self._opened += [finding.opened_at_unix_nano / NANOSECONDS for finding in own]

    def validation(self) -> Validation:
        """Judge the last fifth of the time."""
        begin = self.last - HELD_BACK * (self.last - self.first)
        at = int(np.searchsorted(self._hours, begin))
        at = min(at, len(self._hours) - 1)
        begin = max(self._hours[at], self.first)
        days = max(self.last - begin, 1.0) / DAY
        seen, rare = self._tails.ever - self._counts[at]
        findings = sum(opened >= begin for opened in self._opened)
        return Validation(
            from_unix_seconds=begin, days=days, findings=findings, findings_per_day=findings / days,
            signals={SIGNALS[int(i)].name: _checked(int(seen[i]), int(rare[i]))
                     for i in np.flatnonzero(seen)},
        )  # fmt: skip


def _checked(seen: int, rare: int) -> Checked:
    return Checked(samples=seen, rare_ratio=rare / seen)
