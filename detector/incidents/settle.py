"""Settles the changed incidents of a step: symptoms go to their cause, children are absorbed."""

import msgspec

from detector.incidents.casebook import Casebook
from detector.incidents.causes import Causes
from detector.incidents.intake import JobEnd
from detector.incidents.join import claim
from detector.incidents.lifecycle import LIVE, note
from detector.incidents.merge import shift
from detector.incidents.profile import Profile
from detector.incidents.seat import Knowledge
from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, Finding

# An event and what it drags along are logged within this (runbook facts: absorb, +-60 s).
ABSORB_SECONDS = 60


def draw_symptoms(book: Casebook, hardware: Incident, known: Knowledge) -> None:
    """Give a hardware incident the job's symptoms that it claims more firmly than their holders.

    A cause is often seen after what it causes; so symptoms follow the firmest claim, whichever
    finding came first.
    """
    own = book.index.get(hardware.id)
    if own is None or own.kind != "hardware":
        return
    for other in book.index.with_symptoms(hardware):
        drawn = [one for one in other.incident.evidence if _is_drawn(one, other, own, known)]
        if drawn:
            shift(book, drawn, other.incident, book.after[hardware.id])


def _is_drawn(one: Finding, other: Profile, hardware: Profile, known: Knowledge) -> bool:
    seat = known.seat(one)
    if seat.kind not in {"slow", "stopped"}:
        return False
    return claim(seat, hardware, known) > claim(seat, other, known)


def absorb(incident: Incident, causes: Causes) -> Incident:
    """Mark the findings that the leading entry explains by itself, on its entity within 60 s."""
    entry = incident.hypotheses[0].entry if incident.hypotheses else ""
    folded = [own for own in incident.evidence if causes.absorbs(entry, own)]
    leads = [own for own in incident.evidence if own not in folded]
    ids = tuple(own.id for own in folded if any(_is_near(own, lead) for lead in leads))
    return incident if ids == incident.absorbed else msgspec.structs.replace(incident, absorbed=ids)


def _is_near(own: Finding, lead: Finding) -> bool:
    apart = abs(own.opened_at_unix_nano - lead.opened_at_unix_nano)
    return own.entity == lead.entity and apart <= ABSORB_SECONDS * NANOSECONDS


def end_job(book: Casebook, end: JobEnd) -> None:
    """Close what was open of the job itself: it gives no more signals, which says nothing good."""
    for incident in list(book.after.values()):
        if incident.cluster != end.cluster or incident.state not in LIVE:
            continue
        evidence = tuple(_ended(own, end) for own in incident.evidence)
        if evidence != incident.evidence:
            ended = msgspec.structs.replace(incident, evidence=evidence)
            book.revise(note(ended, book.now, "job_ended", end.code))


def _ended(finding: Finding, end: JobEnd) -> Finding:
    own = finding.closed_at_unix_nano is None and entities.inside(finding.entity, end.entity)
    if not own or finding.opened_at_unix_nano > end.time_unix_nano:
        return finding
    return msgspec.structs.replace(finding, closed_at_unix_nano=end.time_unix_nano)
