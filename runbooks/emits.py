"""Which predicates some family of detectors can make present at all."""

from collections.abc import Iterator

from forewarn.catalogue import CATALOGUE, MOVEMENTS, Bad, Kind, Movement, Signal
from runbooks.evidence import parts
from runbooks.model import Entry, Predicate
from runbooks.movement import SATISFIED_BY

# A side on which a row is never judged.
_RISING = frozenset({"up", "step_up", "grows", "above"})
_FALLING = frozenset({"down", "step_down", "zero", "below"})
_DEAF: dict[Bad, frozenset[str]] = {
    Bad.LOW: _RISING,
    Bad.HIGH: _FALLING,
    Bad.ANY_INCREASE: _FALLING,
    Bad.NONZERO: _FALLING,
    Bad.NONE: _RISING | _FALLING,
}
# Events are seen by these families only: their rows have no level.
_ON_EVENTS = frozenset({"event", "silence", "peers", "progress"})


def unseen(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield (path, why) for needs that no family can emit."""
    for i, need in enumerate(entry.need):
        if not any(can_be_seen(part) for part in parts(need)):
            yield f"need[{i}]", f"no family emits {need.movement} on {need.signal}"


def openers(entry: Entry) -> list[Predicate]:
    """Return the parts of needs that are findings by themselves, without being asked for."""
    return [
        part for need in entry.need for part in parts(need) if _opens(part) and can_be_seen(part)
    ]


def can_be_seen(predicate: Predicate) -> bool:
    """Say whether a finding of some movement that satisfies the predicate can come.

    A condition with a value is read, not found: it can always be seen.
    """
    if predicate.value is not None:
        return True
    signal = CATALOGUE[predicate.signal]
    wanted = predicate.movement
    movements = SATISFIED_BY[wanted] if wanted else frozenset(MOVEMENTS)
    return any(_emitted(signal, movement) for movement in movements)


def _emitted(signal: Signal, movement: Movement) -> bool:
    row = MOVEMENTS[movement]
    if signal.kind not in row.kinds:
        return False
    if signal.kind is Kind.EVENT:
        return bool(row.families & _ON_EVENTS) and _has_peers(signal, movement)
    return movement not in _DEAF.get(signal.bad, ()) and _has_peers(signal, movement)


def _has_peers(signal: Signal, movement: Movement) -> bool:
    return movement not in {"outlier", "all"} or bool(signal.peers)


def _opens(predicate: Predicate) -> bool:
    return predicate.value is None or CATALOGUE[predicate.signal].floor is not None
