"""Spends the one budget: which learned findings may open an incident.

Every learned finding that would open one is a *charge* with a price: how many a day healthy history
shows of its class that are as strong (`Finding.per_day`). Charges at one place within an hour are
one. A finding may open where its price is among the lowest budget x days of what was charged in the
last 30 days, so that as many open as the budget says, whatever the prices are worth by themselves:
of exchangeable charges the next is among the best k of n with chance k / (n + 1) (conformal
ranking). Rules are outside; so is what healthy history would show once in 1,000 budgets, since a
wave of real faults must not use up what is there for the next.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

import msgspec

from detector.incidents.seat import Seat
from forewarn import entity as entities
from forewarn.records import NANOSECONDS, Finding

DAY_NANO = 86_400 * NANOSECONDS
MEMORY_DAYS = 30.0
# Before there is history: as if for two days each of so many classes had charged what its prices
# say, so that a class may spend a thirtieth (Bonferroni). It counts ever less beside what is known.
PRIOR_DAYS, PRIOR_CLASSES = 2.0, 30.0
BOUNDS = (0.5, 2.0)  # of the budget: faults that nobody confirmed must not silence what comes
SURE = 1e-3  # of the budget
SAME_NANO = 3600 * NANOSECONDS
STRONGER = 0.1  # of the price before: at the same place a new charge, not the same again


class Charge(msgspec.Struct, frozen=True):
    """A learned finding that would open an incident: when, where, which, and at what price.

    `per_day` is None where it was not known yet; `incident` is empty where none was opened.
    """

    time_unix_nano: int
    cluster: str
    place: str
    finding: str
    signal: str
    family: str
    per_day: float | None
    incident: str = ""


class Account:
    """The charges of all clusters; `budget` is false incidents a day. `draft` makes a step's."""

    def __init__(self, budget: float, charges: Iterable[Charge] = ()) -> None:
        self.budget = budget
        self._charges = {own.finding: own for own in charges}
        self._latest = {(own.cluster, own.place): own for own in self._charges.values()}
        self._prices: list[float] | None = None

    def draft(self) -> "Draft":
        """Return what collects the charges of one step."""
        return Draft(self)

    def latest(self, cluster: str, place: str) -> Charge | None:
        """Return the latest charge at a place."""
        return self._latest.get((cluster, place))

    def take(self, charges: Iterable[Charge]) -> None:
        """Take over the charges of a step that was kept."""
        for own in charges:
            self._charges[own.finding] = own
            self._latest[own.cluster, own.place] = own
            self._prices = None

    def drop(self, incidents: set[str]) -> None:
        """Forget the charges of incidents that turned out to be none of their own, or no false."""
        gone = [key for key, own in self._charges.items() if own.incident in incidents]
        for key in gone:
            del self._charges[key]
            self._prices = None

    def allowed(self, now: int) -> float:
        """Return the highest price that may be paid now."""
        if self._prices is None:
            self._forget(now)
            self._prices = counted(self._charges.values(), self.budget)
        first = min((own.time_unix_nano for own in self._charges.values()), default=now)
        opened = sum(bool(own.incident) for own in self._charges.values() if self._competes(own))
        return threshold(self._prices, self.budget, (now - first) / DAY_NANO, opened)

    def fair(self, finding: Finding) -> float:
        """Return what a grave finding may cost always: a class's own share of the budget."""
        return 0.0 if finding.severity == "minor" else self.budget / PRIOR_CLASSES

    def _competes(self, own: Charge) -> bool:
        return own.per_day is not None and own.per_day > SURE * self.budget

    def _forget(self, now: int) -> None:
        since = now - round(MEMORY_DAYS * DAY_NANO)
        self._charges = {k: own for k, own in self._charges.items() if own.time_unix_nano >= since}


class Draft:
    """The charges of one step; taken over as a whole or not at all."""

    def __init__(self, held: Account) -> None:
        self._held = held
        self.charges: dict[str, Charge] = {}  # by finding: many may open at one place at once
        self._latest: dict[tuple[str, str], Charge] = {}

    def admits(self, seat: Seat, now: int) -> bool:
        """Say whether a finding may open an incident; what may not is charged as well."""
        finding = seat.finding
        if not finding.learned or finding.per_day is None:
            return True
        if finding.per_day <= SURE * self._held.budget:
            return True
        before = self._before(finding, place_of(seat), now)
        if before is not None and before.incident:
            return False  # it has had its incident, not an hour ago
        may = finding.per_day <= max(self._held.allowed(now), self._held.fair(finding))
        if not may:
            self._charge(seat, now, "", before)
        return may

    def opened(self, seat: Seat, incident: str, now: int) -> None:
        """Note that a finding opened an incident."""
        if seat.finding.learned:
            self._charge(seat, now, incident, self._before(seat.finding, place_of(seat), now))

    def _before(self, finding: Finding, place: str, now: int) -> Charge | None:
        """Return the charge that a finding is the same as."""
        key = finding.cluster, place
        before = self._latest.get(key) or self._held.latest(*key)
        if before is None or before.per_day is None or finding.per_day is None:
            return None
        recent = now - before.time_unix_nano < SAME_NANO
        same = recent and finding.per_day > STRONGER * before.per_day
        return before if same or before.finding == finding.id else None

    def _charge(self, seat: Seat, now: int, incident: str, before: Charge | None) -> None:
        finding, place = seat.finding, place_of(seat)
        own = Charge(
            now, finding.cluster, place, finding.id, finding.signal, finding.family,
            finding.per_day, incident,
        )  # fmt: skip
        if before is not None and before.per_day is not None and finding.per_day is not None:
            lower = min(before.per_day, finding.per_day)
            own = msgspec.structs.replace(own, finding=before.finding, per_day=lower)
        self.charges[own.finding] = self._latest[finding.cluster, place] = own


def place_of(seat: Seat) -> str:
    """Return where charges are one: the node, the job, the rack."""
    return entities.root(seat.entity)


def counted(charges: Iterable[Charge], budget: float) -> list[float]:
    """Return the known prices that compete for the budget, lowest first."""
    prices = (own.per_day for own in charges if own.per_day is not None)
    return sorted(own for own in prices if own > SURE * budget)


def threshold(prices: Sequence[float], budget: float, days: float, opened: int) -> float:
    """Return the price up to which to pay, so that `budget` charges a day are.

    Solves count(prices <= x) + p PRIOR_CLASSES x = budget (days + p), where p are the days that the
    prior still counts. What was spent too little or too much, with `opened` so far, is made up for
    within BOUNDS.
    """
    prior = PRIOR_DAYS**2 / (PRIOR_DAYS + days)
    least, most = (bound * budget * (days + prior) for bound in BOUNDS)
    wanted = min(max(budget * (2 * days + prior) - opened, least), most)
    slope, below = prior * PRIOR_CLASSES, 0.0
    for count, price in enumerate(prices):
        left = (wanted - count) / slope
        if left < price:
            return max(left, below)
        below = price * (1 - 1e-9)  # the next one would be one too many
    return max((wanted - len(prices)) / slope, below)


def would_open(charges: Iterable[Charge], budget: float, days: float) -> int:
    """Return how many of the charges would have opened an incident at another budget."""
    held = list(charges)
    prices = counted(held, budget)
    sure = sum(own.per_day is not None and own.per_day <= SURE * budget for own in held)
    unknown = sum(own.per_day is None for own in held)
    even = round(budget * days)
    return unknown + sure + bisect_right(prices, threshold(prices, budget, days, even))
