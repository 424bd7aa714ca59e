"""What the runbook knows of cause and effect, indexed so that joining can ask it cheaply."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from detector.incidents.kinds import NUMERIC, SHARED, STOPPED, Kind, Sign, sign_of
from forewarn import codes
from forewarn.catalogue import CATALOGUE
from forewarn.catalogue.movements import CONDITIONS
from forewarn.errors import UnknownSignalError
from forewarn.records import Finding
from runbooks.model import Entry, Predicate
from runbooks.movement import satisfies
from runbooks.places import OWN_KINDS

_JOB_ENTITIES = frozenset({"job", "rank"})
# How firmly an entry claims an effect: it names the signal, or a symptom's entry names it.
NAMED, LISTED = 2, 1
MAX_SIGNS = 10_000  # remembered at a time; codes of unknown sources have no end


class Causes:
    """Answers: which entries does this evidence call for, and what else would they cause?"""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = {entry.id: entry for entry in entries if entry.status != "deprecated"}
        self._by_signal: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._entries.values():
            for name in {name for need in entry.need for name in _signals(need)}:
                self._by_signal[name].append(entry)
        self._effects = {own.id: dict(self._effects_of(own)) for own in self._entries.values()}
        self._seats = {own.id: _seats(own) for own in self._entries.values()}
        self._known: dict[Sign, tuple[frozenset[str], frozenset[str]]] = {}

    def called(self, findings: Iterable[Finding]) -> frozenset[str]:
        """Return the ids of causes of which some `need` (or exact code) is among the findings."""
        return frozenset().union(*(self.called_by(own) for own in findings))

    def called_by(self, finding: Finding) -> frozenset[str]:
        """Return the ids of causes that need what the finding says."""
        return self._of(finding)[0]

    def naming(self, finding: Finding) -> frozenset[str]:
        """Return the ids of entries that need, support or cause (by an edge) what it says."""
        return self._of(finding)[1]

    def _of(self, finding: Finding) -> tuple[frozenset[str], frozenset[str]]:
        """Work out both once for each sign; a predicate looks at nothing else of a finding."""
        sign = sign_of(finding)
        if sign not in self._known:
            if len(self._known) >= MAX_SIGNS:
                self._known.clear()
            called = (own for own in self._by_signal[finding.signal] if _is_called(own, finding))
            named = (own for own in self._entries.values() if self._is_named(own, finding))
            self._known[sign] = (
                frozenset(own.id for own in called),
                frozenset(own.id for own in named),
            )
        return self._known[sign]

    def _is_named(self, entry: Entry, finding: Finding) -> bool:
        return any(meets(predicate, finding) for predicate in self._predicates(entry))

    def sits(self, entry: str, kind: str) -> bool:
        """Say whether the cause of `entry` sits at entities of that kind."""
        return kind in self._seats[entry]

    def effect(self, entries: Iterable[str], kind: Kind) -> int:
        """Return how firmly any of `entries` claims to make a job suffer so: 0, LISTED or NAMED."""
        return max((self._effects.get(own, {}).get(kind, 0) for own in entries), default=0)

    def name(self, entries: Iterable[str], finding: Finding) -> bool:
        """Say whether any of `entries` needs, supports or causes (by an edge) the finding."""
        return not self.naming(finding).isdisjoint(entries)

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


def _seats(entry: Entry) -> frozenset[str]:
    """Return the kinds of entity that the cause sits at: those its word means.

    `facility` means a coolant unit and a power unit: the signal needed says which.
    """
    kinds = OWN_KINDS[entry.entity]
    if entry.entity != "facility":  # what a port shows is a matter of its switch, too
        return kinds
    names = [name for need in entry.need for name in _signals(need)]
    own = {CATALOGUE[name].entity for name in names if name in CATALOGUE} & SHARED
    return kinds & own or kinds


def _is_called(entry: Entry, finding: Finding) -> bool:
    return entry.kind == "cause" and any(meets(need, finding) for need in entry.need)


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
