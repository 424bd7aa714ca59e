"""How much a predicate weighs: what many entries share tells little."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from forewarn import codes as code_names
from runbooks.evidence import parts, signals
from runbooks.model import Predicate
from runbooks.movement import satisfies
from runbooks.table import Table

Users = Mapping[str, list[tuple[str, Predicate]]]


class Weights:
    """Weights of predicates in one table, in nats: log((N+1) / (df+1)).

    N is the number of entries that may explain something, df how many of them need or support
    what overlaps with the predicate (same signal, a movement of the same side, a common code).
    """

    def __init__(self, table: Table) -> None:
        self.entries = len(table.living())
        self._users = _users(table)
        self._known: dict[Predicate, float] = {}

    def of(self, predicate: Predicate) -> float:
        """Return the weight of a predicate; of alternatives, that of the most common one."""
        if predicate not in self._known:
            own = (self._weigh(part) for part in parts(predicate))
            self._known[predicate] = min(own, default=0.0)
        return self._known[predicate]

    def _weigh(self, predicate: Predicate) -> float:
        users = {
            entry
            for signal in signals(predicate)
            for entry, other in self._users.get(signal, ())
            if overlaps(predicate, other)
        }
        return math.log((self.entries + 1) / (len(users) + 1))


@lru_cache(maxsize=4)
def weights(table: Table) -> Weights:
    """Return the weights of `table`, worked out once."""
    return Weights(table)


def _users(table: Table) -> Users:
    found: dict[str, list[tuple[str, Predicate]]] = defaultdict(list)
    for entry in table.living():
        for predicate in (*entry.need, *entry.support):
            for part in parts(predicate):
                for signal in signals(part):
                    found[signal].append((entry.id, part))
    return found


def overlaps(one: Predicate, other: Predicate) -> bool:
    """Say whether one finding could make both present (alternatives are taken apart before)."""
    if not set(signals(one)) & set(signals(other)):
        return False
    if one.movement is None or other.movement is None:
        return True
    side = satisfies(one.movement, other.movement) or satisfies(other.movement, one.movement)
    return side and _codes_meet(one.codes, other.codes)


def _codes_meet(one: Iterable[str], other: Iterable[str]) -> bool:
    mine, theirs = tuple(one), tuple(other)
    if not mine or not theirs:
        return True
    return any(code_names.matches(a, b) or code_names.matches(b, a) for a in mine for b in theirs)
