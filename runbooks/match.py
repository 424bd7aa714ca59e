"""Which entries could explain the evidence, and where the cause of each would sit."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from forewarn import codes as code_names
from forewarn import entity as entities
from forewarn.records import Finding
from runbooks.evidence import Evidence, parts, signals
from runbooks.model import At, Entry, Predicate
from runbooks.places import OWN_KINDS
from runbooks.table import Table

SIBLINGS = 3  # parts of one place that an entry fits alike: the place itself is judged


class Candidate(msgspec.Struct, frozen=True):
    """An entry at the entity where its cause would sit."""

    entry: Entry
    entity: str


def match(table: Table, evidence: Evidence) -> tuple[Candidate, ...]:
    """Return every entry for which the evidence speaks, at each entity where it may sit.

    An entry is a candidate with any exact code, or any `need` or `support` present; a code alone
    never makes a symptom one. One whose needs are all observed absent is not. Drafts take part:
    a fault that only a draft knows is better named with a mark than left unnamed.
    """
    found: dict[str, tuple[Entry, set[str]]] = {}
    for entry, finding in _touched(table, evidence):
        _, seats = found.setdefault(entry.id, (entry, set()))
        seats |= _seats(entry, finding, evidence)
    candidates = [
        Candidate(entry, entity)
        for _, (entry, seats) in sorted(found.items())
        for entity in sorted(_gathered(entry, seats, evidence))
    ]
    return tuple(own for own in candidates if not _excluded(own, evidence))


def _gathered(entry: Entry, seats: set[str], evidence: Evidence) -> set[str]:
    """Put the place that several seats are parts of in their stead, where the cause may sit there.

    A switch, not its ports: the one port with the least against the cause would speak for all.
    """
    kinds = OWN_KINDS[entry.entity]
    parts_of: dict[str, set[str]] = defaultdict(set)
    for seat in seats:
        for up in evidence.relations.above(seat):
            if entities.kind(up) in kinds and entities.kind(seat) in kinds:
                parts_of[up].add(seat)
    shared = {up: parts for up, parts in parts_of.items() if len(parts) >= SIBLINGS}
    return seats.union(shared).difference(*shared.values())


def _touched(table: Table, evidence: Evidence) -> Iterator[tuple[Entry, Finding]]:
    """Yield entries with a finding that makes one of their needs, supports or codes present."""
    by_signal = _index(table)
    for signal in sorted({finding.signal for finding in evidence.findings}):
        for entry, predicate in by_signal.get(signal, ()):
            yield from ((entry, finding) for finding in evidence.found(predicate))
    yield from _touched_by_value(table, evidence)
    yield from _touched_by_code(table, evidence)


def _touched_by_value(table: Table, evidence: Evidence) -> Iterator[tuple[Entry, Finding]]:
    """Yield entries with a condition (`above 95`) that a finding's own value meets."""
    for finding in evidence.findings:
        for entry, predicate in _index(table).get(finding.signal, ()):
            if predicate.value is not None:
                seen = evidence.seen(predicate, finding.entity)
                if finding in seen.findings:
                    yield entry, finding


def _touched_by_code(table: Table, evidence: Evidence) -> Iterator[tuple[Entry, Finding]]:
    coded = [finding for finding in evidence.findings if finding.code]
    for entry in table.living() if coded else ():
        for finding in coded if entry.kind != "symptom" else ():
            if any(code_names.matches(own, finding.code) for own in entry.codes):
                yield entry, finding


@lru_cache(maxsize=4)
def _index(table: Table) -> Mapping[str, list[tuple[Entry, Predicate]]]:
    """Return by signal the entries that need or support something on it."""
    found: dict[str, list[tuple[Entry, Predicate]]] = defaultdict(list)
    for entry in table.living():
        for predicate in (*entry.need, *entry.support):
            for part in parts(predicate):
                for signal in signals(part):
                    found[signal].append((entry, part))
    return found


def _seats(entry: Entry, finding: Finding, evidence: Evidence) -> set[str]:
    """Return the entities at which the cause would sit, seen from one of its findings.

    Its own kind at or above the finding; else below it, where something there has a finding too;
    else the finding's entity itself: the cause is somewhere on it.
    """
    kinds = OWN_KINDS[entry.entity]
    own = finding.entity
    if entities.kind(own) in kinds:
        return {own}
    relations = evidence.relations
    if above := [up for up in relations.above(own) if entities.kind(up) in kinds]:
        return {above[0]}
    if entry.entity == "job" and (jobs := relations.jobs(own)):
        return {entities.path("job", job) for job in jobs}
    return _seats_below(entry.entity, own, evidence) or {own}


def _seats_below(at: At, own: str, evidence: Evidence) -> set[str]:
    kinds, relations = OWN_KINDS[at], evidence.relations
    seen = {finding.entity for finding in evidence.findings}
    fitting = {entity for entity in seen if entities.kind(entity) in kinds}
    if not own.startswith("job/"):
        return {entity for entity in fitting if own in relations.above(entity)}
    if devices := {d for d in relations.devices(own) if entities.kind(d) in kinds}:
        return devices
    return {entity for entity in fitting if relations.meet(entity, "job", entities.root(own))}


def _excluded(candidate: Candidate, evidence: Evidence) -> bool:
    """Say whether all needs of the candidate were looked for and are not there."""
    needs = candidate.entry.need
    states = {evidence.seen(need, candidate.entity).state for need in needs}
    return bool(needs) and states == {"absent"}
