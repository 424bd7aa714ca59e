"""What the runbook knows of cause and effect, indexed so that joining can ask it cheaply."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from detector.incidents.kinds import NUMERIC, STOPPED, Kind
from forewarn import codes
from forewarn.catalogue import CATALOGUE
from forewarn.catalogue.movements import CONDITIONS
from forewarn.errors import UnknownSignalError
from forewarn.records import Finding
from runbooks.model import Entry, Predicate
from runbooks.movement import satisfies

_JOB_ENTITIES = frozenset({"job", "rank"})
# How firmly an entry claims an effect: it names the signal, or a symptom's entry names it.
NAMED, LISTED = 2, 1


class Causes:
    """Answers: which entries does this evidence call for, and what else would they cause?"""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = {entry.id: entry for entry in entries if entry.status != "deprecated"}
        self._by_signal: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._entries.values():
            for name in {name for need in entry.need for name in _signals(need)}:
                self._by_signal[name].append(entry)
        self._effects = {own.id: dict(self._effects_of(own)) for own in self._entries.values()}

    def called(self, findings: Iterable[Finding]) -> frozenset[str]:
        """Return the ids of causes of which some `need` (or exact code) is among the findings."""
        return frozenset(
            entry.id
            for finding in findings
            for entry in self._by_signal[finding.signal]
            if entry.kind == "cause" and any(meets(need, finding) for need in entry.need)
        )

    def effect(self, entries: Iterable[str], kind: Kind) -> int:
        """Return how firmly any of `entries` claims to make a job suffer so: 0, LISTED or NAMED."""
        return max((self._effects.get(own, {}).get(kind, 0) for own in entries), default=0)

    def name(self, entries: Iterable[str], finding: Finding) -> bool:
        """Say whether any of `entries` needs, supports or causes (by an edge) the finding."""
        return any(
            meets(predicate, finding)
            for own in entries
            if own in self._entries
            for predicate in self._predicates(self._entries[own])
        )

    def absorbs(self, entry: str, finding: Finding) -> bool:
        """Say whether `entry` folds the finding in: by its code, or as another entry's need."""
        for own in self._entries[entry].absorbs if entry in self._entries else ():
            if ":" in own and finding.code and codes.matches(own, finding.code):
                return True
            if own in self._entries and any(meets(p, finding) for p in self._entries[own].need):
                return True
        return False

    def _predicates(self, entry: Entry) -> Iterator[Predicate]:
        yield from entry.need
        yield from entry.support
        for edge in entry.edges:
            if edge.to in self._entries:
                yield from self._entries[edge.to].need

    def _effects_of(self, entry: Entry) -> Iterator[tuple[Kind, int]]:
        """Yield weak claims first, so that a dict of the pairs keeps the firmest."""
        for symptom in self._entries.values():
            if symptom.kind != "cause" and entry.id in _listed(symptom):
                yield from ((kind, LISTED) for kind in _suffers(symptom.need))
        yield from ((kind, NAMED) for kind in _suffers(self._predicates(entry)))


def _listed(symptom: Entry) -> set[str]:
    return {own for answers in symptom.leads_to.values() for own in answers}


def _suffers(predicates: Iterable[Predicate]) -> Iterator[Kind]:
    """Yield the ways in which a job suffers that the predicates speak of."""
    for name in (name for predicate in predicates for name in _signals(predicate)):
        if name in NUMERIC:
            yield "numeric"
        elif name in STOPPED:
            yield "stopped"
        elif name in CATALOGUE and CATALOGUE[name].entity in _JOB_ENTITIES:
            yield "slow"


def meets(predicate: Predicate, finding: Finding) -> bool:
    """Say whether the finding is what the predicate speaks of; values are left to the ranking."""
    if predicate.any:
        return any(meets(own, finding) for own in predicate.any)
    if _canonical(predicate.signal) != finding.signal:
        return False
    if predicate.codes:
        return any(codes.matches(own, finding.code) for own in predicate.codes)
    return predicate.movement in CONDITIONS or satisfies(finding.movement, predicate.movement)


def _signals(predicate: Predicate) -> Iterator[str]:
    if predicate.signal:
        yield _canonical(predicate.signal)
    for own in predicate.any:
        yield from _signals(own)


def _canonical(name: str) -> str:
    try:
        return CATALOGUE.resolve(name).name
    except UnknownSignalError:
        return name
