"""What became of the budget of false incidents: promised, opened, and what people said of them."""

import math

import msgspec


class Other(msgspec.Struct, frozen=True):
    """How many learned incidents another budget would have opened, of what was charged."""

    budget: float
    would_open: int


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """The budget in a window of `days` up to `until_unix_nano`.

    `promised` is budget x days, `promised_low` to `promised_high` its 95 % interval. `opened` are
    incidents that a learned finding opened: `confirmed`, `refuted`, or judged by nobody yet
    (`unreviewed`). `held_back` are charges that opened none; `by_rules` incidents that events,
    limits and silence opened: they are outside the budget.
    """

    budget: float
    until_unix_nano: int
    days: float
    promised: float
    promised_low: int
    promised_high: int
    opened: int
    confirmed: int
    refuted: int
    unreviewed: int
    held_back: int
    by_rules: int
    others: tuple[Other, ...] = ()

    @property
    def actual(self) -> tuple[int, int]:
        """Return how many false incidents there were: at least, and at most."""
        return self.refuted, self.refuted + self.unreviewed


def poisson_interval(mean: float, share: float = 0.95) -> tuple[int, int]:
    """Return the least counts whose distribution functions reach the tails of a Poisson interval.

    The sum runs over logarithms, so that a large mean does not underflow.
    """
    if mean <= 0:
        return 0, 0
    tail, low, total, count = (1 - share) / 2, -1, 0.0, 0
    while True:
        total += math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))
        if low < 0 and total >= tail:
            low = count
        if total >= 1 - tail:
            return low, count
        count += 1
