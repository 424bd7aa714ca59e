"""Conditions (`above 95`): tested on the latest values that the findings carry."""

from collections.abc import Iterable, Mapping

from forewarn.catalogue import CATALOGUE, Kind
from forewarn.records import Finding, Reading
from runbooks.model import Predicate

Latest = Mapping[tuple[str, str], tuple[Reading, Finding]]


def latest(findings: Iterable[Finding]) -> Latest:
    """Return by signal and entity the newest value that any finding carries, and that finding."""
    held: dict[tuple[str, str], tuple[Reading, Finding]] = {}
    for finding in findings:
        value = observed(finding)
        for reading in (*finding.readings, *([value] if value else [])):
            key = (reading.signal, reading.entity)
            if key not in held or held[key][0].time_unix_nano <= reading.time_unix_nano:
                held[key] = (reading, finding)
    return held


def observed(finding: Finding) -> Reading | None:
    """Return the finding's own value as a reading; a counter's is a rate and is left out."""
    row = CATALOGUE.get(finding.signal)
    if finding.observed is None or row is None or row.kind is Kind.COUNTER:
        return None
    return Reading(finding.signal, finding.entity, finding.observed, finding.updated_at_unix_nano)


def beyond(predicate: Predicate, reading: float, limit: float) -> bool:
    """Say whether a reading meets the condition of the predicate with that limit."""
    return reading > limit if predicate.movement == "above" else reading < limit


def guarded(predicate: Predicate, limit: float) -> bool:
    """Say whether the row's own floor would have been a finding before the limit is passed."""
    floor = CATALOGUE[predicate.signal].floor
    if floor is None or floor.number is None or floor.per_second:
        return False
    return limit >= floor.number if predicate.movement == "above" else limit <= floor.number
