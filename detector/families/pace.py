"""One positive signal of a job in logs: expectation, spread, one-sided CUSUM, confirmation.

A step with more tokens takes longer. Where the job says how many (its sequence length times its
batch), what follows them is taken out: log value = level + power x log tokens, the power learned
from the steps themselves and shrunk to what arithmetic says.
"""

import math
from bisect import insort
from collections import deque
from statistics import fmean, median

import msgspec

from forewarn.catalogue import Movement
from forewarn.records import Severity

WARM_STEPS = 10
MEMORY_STEPS = 200  # steps behind the expectation
DRIFT, DECIDE = 0.5, 8.0  # CUSUM in spreads: slack and threshold (delay about 8 / (shift - 0.5))
SPREAD_STEPS = 8  # how often the spread of a full memory is looked at anew
LEAST_SPREAD = 0.01  # of log values: nobody's steps are steadier than 1 %
CONFIRM_STEPS = 3  # facts: >= 5-10 % median ratio over >= 3 steps takes false alarms to 0
QUIET_STEPS = 20  # calm steps that close a finding
SAME_SIZE = 0.005  # of log tokens: a smaller difference is none
NEW_SIZE, NEW_SIZE_STEPS = math.log(1.25), 3  # so far beyond all sizes seen, so often: another job
PRIOR = 0.05  # of the power: what 20 steps weigh whose tokens vary by 5 %
LEAST_POWER, MOST_POWER = -0.5, 2.5  # attention is quadratic in length; the rest allows for noise


class Rule(msgspec.Struct, frozen=True):
    """How one signal of a job is watched: which way is bad and how much of a change matters.

    `power` is that of the tokens per step in it, before any step was seen; None: it knows none.
    """

    movement: Movement
    ratio: float  # effect floor: median of the latest steps over the expected one
    confirm: int = CONFIRM_STEPS
    severity: Severity = "major"
    power: float | None = None


class Trend:
    """What one signal of one job usually is, and whether it has changed for worse."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.sign = 1.0 if rule.ratio > 1 else -1.0
        self._past: deque[tuple[float, float]] = deque(maxlen=MEMORY_STEPS)  # log value, log tokens
        self._sorted: list[float] = []  # levels; what is nearly in order is sorted in no time
        self._latest: deque[float] = deque(maxlen=2 * rule.confirm - 1)
        self._power, self._middle, self._size = rule.power or 0.0, 0.0, 0.0
        self._low, self._high = math.inf, -math.inf  # sizes that were ever seen
        self._strange = 0  # steps in a row of a size that was never seen
        self._sum = 0.0
        self._calm = 0
        self._centre = 0.0
        self.spread = LEAST_SPREAD
        self.steps = 0

    @property
    def expected(self) -> float:
        """Return the value expected of a step as large as the latest (the signal's unit)."""
        return math.exp(self._centre + self._power * (self._size - self._middle))

    @property
    def level(self) -> float:
        """Return the log of the value that is usual, at the middle of the sizes seen."""
        return self._centre

    @property
    def size(self) -> float:
        """Return the middle of log tokens per step; 0 where nobody says."""
        return self._middle

    @property
    def ready(self) -> bool:
        """Say whether enough steps were seen."""
        return len(self._past) >= WARM_STEPS

    def now(self) -> float:
        """Return the middle of the latest steps as a log, their sizes taken out."""
        return median(self._latest)

    def effect(self) -> float:
        """Return the median of the latest steps, as a signed distance in effect floors."""
        return (self.now() - self._centre) / abs(math.log(self.rule.ratio))

    def push(self, value: float, tokens: float = math.nan) -> bool:
        """Take one value > 0 of a step of so many tokens; return whether it has changed by now."""
        log = math.log(value)
        size = math.log(tokens) if tokens > 0 and self.rule.power is not None else self._size
        if self._another(size):
            return False
        self._size = size
        level = self._level(log, size)
        self._latest.append(level)
        self.steps += 1
        if not self.ready:
            self._learn(log, size)
            return False
        z = self.sign * (level - self._centre) / self.spread
        self._sum = max(0.0, self._sum + min(z, 2 * DECIDE) - DRIFT)
        self._calm = self._calm + 1 if z < 3 else 0
        if self._sum == 0.0 or (self._calm and self._sum < DECIDE):
            self._learn(log, size)
        return self._sum >= DECIDE and self._confirmed()

    def calm(self) -> bool:
        """Say whether the change is over."""
        return self._calm >= QUIET_STEPS

    def restart(self) -> None:
        """Begin anew: the expectation is learned again."""
        self.__init__(self.rule)  # type: ignore[misc]

    def _another(self, size: float) -> bool:
        """Say whether a step is of a size unlike all before: the last of an epoch, or a new job."""
        if not self._past or self._low - NEW_SIZE <= size <= self._high + NEW_SIZE:
            self._strange = 0
            return False
        self._strange += 1
        if self._strange >= NEW_SIZE_STEPS:
            self.restart()
        return True

    def _level(self, log: float, size: float) -> float:
        return log - self._power * (size - self._middle)

    def _confirmed(self) -> bool:
        """Say whether most of the latest steps, so at least `confirm`, are beyond the floor."""
        full = len(self._latest) == self._latest.maxlen
        return full and self.sign * (self.now() - self._centre) >= abs(math.log(self.rule.ratio))

    def _learn(self, log: float, size: float) -> None:
        """Take the value into the expectation, clipped at four spreads once there is one."""
        if self.ready:
            usual = log - self._level(log, size) + self._centre
            log = min(max(log, usual - 4 * self.spread), usual + 4 * self.spread)
        oldest = self._past[0] if len(self._past) == MEMORY_STEPS else None
        self._past.append((log, size))
        self._low, self._high = min(self._low, size), max(self._high, size)
        if not self._follow():
            if oldest is not None:
                self._sorted.remove(self._level(*oldest))
            insort(self._sorted, self._level(log, size))
        self._centre = median(self._sorted)
        if len(self._past) < MEMORY_STEPS or self.steps % SPREAD_STEPS == 0:
            deviation = median([abs(x - self._centre) for x in self._sorted])
            self.spread = max(LEAST_SPREAD, 1.4826 * deviation)

    def _follow(self) -> bool:
        """Fit the power where sizes differ (ridge to the prior); say whether levels are new."""
        if self._high - self._low >= SAME_SIZE:
            self._fit([size for _, size in self._past])
        elif self._middle != self._low:
            self._middle = self._low
        else:
            return False
        self._sorted = sorted(self._level(*own) for own in self._past)
        return True

    def _fit(self, sizes: list[float]) -> None:
        self._middle = fmean(sizes)
        around = fmean(log for log, _ in self._past)
        square = sum((size - self._middle) ** 2 for size in sizes)
        both = sum((size - self._middle) * (log - around) for log, size in self._past)
        power = (both + PRIOR * (self.rule.power or 0.0)) / (square + PRIOR)
        self._power = min(max(power, LEAST_POWER), MOST_POWER)
