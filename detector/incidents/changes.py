"""What differs between two revisions of an incident, in the words of `lifecycle.TOLD`."""

from collections.abc import Iterator

from detector.incidents.lifecycle import LIVE, TOLD, Telling, is_graver
from forewarn.incident import Incident


def reasons(before: Incident | None, after: Incident) -> tuple[str, ...]:
    """Return the words of `TOLD` for what changed, in the order of that table."""
    found = set(_reasons(before, after))
    return tuple(word for word in TOLD if word in found)


def _reasons(before: Incident | None, after: Incident) -> Iterator[str]:
    if before is None:
        if after.state != "merged":  # one that came and went in a step was never there
            yield "opened"
        return
    yield from (own.verdict for own in after.feedback[len(before.feedback) :])
    if after.state != before.state and after.state in TOLD:
        yield after.state
    if after.state in LIVE:  # what still comes in of one that is over wakes nobody
        yield from _of_evidence(before, after)


def _of_evidence(before: Incident, after: Incident) -> Iterator[str]:
    if is_graver(after, before):
        yield "severity"
    if leading(after) != leading(before):
        yield "cause"
    if _kinds(after) - _kinds(before):
        yield "evidence"
    if after.entity != before.entity:
        yield "raised"


def leading(incident: Incident) -> tuple[str, str] | None:
    """Return entry and entity of the leading hypothesis."""
    if not incident.hypotheses:
        return None
    first = incident.hypotheses[0]
    return first.entry, first.entity


def _kinds(incident: Incident) -> set[tuple[str, str]]:
    return {(finding.signal, finding.code) for finding in incident.evidence}


def telling(words: tuple[str, ...]) -> Telling | None:
    """Return as what a change is told: an end before a begin before an update; None: it is not."""
    kinds = {TOLD[word] for word in words}
    order: tuple[Telling, ...] = ("resolve", "open", "update")
    return next((kind for kind in order if kind in kinds), None)
