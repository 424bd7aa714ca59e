"""Settles the changed incidents of a step: merge, absorb, rank, follow the evidence."""

import msgspec

from detector.incidents.casebook import Casebook
from detector.incidents.causes import Causes
from detector.incidents.intake import JobEnd
from detector.incidents.join import can_cause, kind_of_incident, seat_of
from detector.incidents.lifecycle import LIVE, move, note
from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding

# An event and what it drags along are logged within this (runbook facts: absorb, +-60 s).
ABSORB_SECONDS = 60


def merge_symptoms(
    book: Casebook, hardware: Incident, causes: Causes, inventory: Inventory
) -> Incident:
    """Fold the job's own incident into a hardware incident that turns out to cause it."""
    if hardware.state not in LIVE or kind_of_incident(hardware, inventory) != "hardware":
        return hardware
    for other in list(book.after.values()):
        if other.id == hardware.id or not _is_symptom_of(hardware, other, causes, inventory):
            continue
        hardware = merge(book, other, hardware)
    return hardware


def _is_symptom_of(
    hardware: Incident, other: Incident, causes: Causes, inventory: Inventory
) -> bool:
    same_job = other.cluster == hardware.cluster and set(other.jobs) & set(hardware.jobs)
    if other.state not in LIVE or not same_job:
        return False
    seats = [seat_of(finding, inventory) for finding in other.evidence]
    if any(seat.kind not in {"slow", "stopped"} for seat in seats):
        return False
    return can_cause(hardware, seats[0], causes) > 0


def merge(book: Casebook, gone: Incident, into: Incident) -> Incident:
    """Put all of `gone` into `into`; both say so."""
    ended = move(gone, "merged", book.now, text=f"merged into {into.id}")
    book.put(msgspec.structs.replace(ended, merged_into=into.id))
    evidence = (*into.evidence, *gone.evidence)
    grown = msgspec.structs.replace(
        into,
        evidence=evidence,
        affected=tuple(dict.fromkeys((*into.affected, *gone.affected))),
        jobs=tuple(dict.fromkeys((*into.jobs, *gone.jobs))),
    )
    return note(grown, book.now, "merged_in", gone.id)


def absorb(incident: Incident, causes: Causes) -> Incident:
    """Mark the findings that the leading entry explains by itself, on its entity within 60 s."""
    if not incident.hypotheses:
        return incident
    entry = incident.hypotheses[0].entry
    folded = {finding.id for finding in incident.evidence if causes.absorbs(entry, finding)}
    leads = [own for own in incident.evidence if own.id not in folded]
    near = {
        finding.id
        for finding in incident.evidence
        if finding.id in folded
        and any(
            own.entity == finding.entity
            and abs(own.opened_at_unix_nano - finding.opened_at_unix_nano)
            <= ABSORB_SECONDS * NANOSECONDS
            for own in leads
        )
    }
    ids = tuple(own.id for own in incident.evidence if own.id in near)
    return incident if ids == incident.absorbed else msgspec.structs.replace(incident, absorbed=ids)


def end_job(book: Casebook, end: JobEnd) -> None:
    """Close what was open of the job itself: it gives no more signals, which says nothing good."""
    for incident in list(book.after.values()):
        if incident.cluster != end.cluster or incident.state not in LIVE:
            continue
        evidence = tuple(_ended(own, end) for own in incident.evidence)
        if evidence != incident.evidence:
            ended = msgspec.structs.replace(incident, evidence=evidence)
            book.put(note(ended, book.now, "job_ended", end.code))


def _ended(finding: Finding, end: JobEnd) -> Finding:
    own = finding.closed_at_unix_nano is None and entities.inside(finding.entity, end.entity)
    if not own or finding.opened_at_unix_nano > end.time_unix_nano:
        return finding
    return msgspec.structs.replace(finding, closed_at_unix_nano=end.time_unix_nano)
