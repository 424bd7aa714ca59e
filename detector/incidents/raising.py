"""Raises a fault to what its devices share: three hot GPUs of one loop are one incident there.

A shared parent is believed when most of its own show the same signal and the others do not.
"""

from collections import Counter

import msgspec

from detector.incidents.casebook import Casebook
from detector.incidents.join import hangs_on
from detector.incidents.lifecycle import LIVE, note
from detector.incidents.seat import Knowledge
from detector.incidents.settle import shift
from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding

SIBLINGS = 3  # runbook facts: at least three siblings with the same signal
# They must show it this close to one another: a shared cause reaches its children together; two
# periods of the slowest hardware sensors (60 s) lie within it.
TOGETHER_SECONDS = 120
# Of the parent's own, this share must show it, and of all others at most half that share.
COVERAGE = 0.5


def raise_shared(book: Casebook, incident: Incident, known: Knowledge) -> None:
    """Make one incident at the common parent of those that show what `incident` shows."""
    if incident.state not in LIVE or known.kind(incident) != "hardware":
        return
    shown = known.hardware(incident)[-1]
    holders = {own.id: own for own in book.after.values() if _shows(own, shown, known)}
    places = {one.entity for own in holders.values() for one in _alike(own, shown, known)}
    inventory = known.inventory(incident.cluster)
    parent = common_parent(places, inventory) if len(places) >= SIBLINGS else None
    if parent is None or len(holders) < 2:
        return
    below = [
        own
        for own in holders.values()
        if all(parent in hangs_on(one.entity, inventory) for one in _alike(own, shown, known))
    ]
    _gather(book, below, parent)


def _shows(own: Incident, shown: Finding, known: Knowledge) -> bool:
    """Say whether a live hardware incident of the cluster shows the same at about the same time."""
    if own.cluster != shown.cluster or own.state not in LIVE or known.kind(own) != "hardware":
        return False
    return bool(_alike(own, shown, known))


def _alike(own: Incident, shown: Finding, known: Knowledge) -> list[Finding]:
    return [
        one
        for one in known.hardware(own)
        if is_alike(one, shown)
        and abs(one.opened_at_unix_nano - shown.opened_at_unix_nano)
        <= TOGETHER_SECONDS * NANOSECONDS
    ]


def is_alike(one: Finding, other: Finding) -> bool:
    """Say whether two findings say the same of different entities."""
    return (one.signal, one.movement, one.code) == (other.signal, other.movement, other.code)


def common_parent(places: set[str], inventory: Inventory) -> str | None:
    """Return the parent that fits the places best: most of its own, and most of all affected.

    The fit is F1 of both shares; of equal ones the narrower parent counts.
    """
    counts = Counter(parent for place in places for parent in hangs_on(place, inventory))
    kind = entities.kind(next(iter(places)))
    everywhere = sum(entities.kind(item.entity) == kind for item in inventory)
    fits = []
    for parent, count in counts.items():
        size = len(_children(parent, kind, inventory)) if count >= SIBLINGS else 0
        if _is_covered(count, size, len(places), everywhere):
            fits.append((2 * count / (size + len(places)), -size, parent))
    return max(fits)[2] if fits else None


def _children(parent: str, kind: str, inventory: Inventory) -> set[str]:
    if not parent.startswith("job/"):
        return {own for own in inventory.below(parent) if entities.kind(own) == kind}
    placed = inventory.ranks(entities.last_name(parent)).values()
    return {own for place in placed for own in place.devices if entities.kind(own) == kind}


def _is_covered(inside: int, size: int, affected: int, everywhere: int) -> bool:
    if size == 0 or inside / size < COVERAGE:
        return False
    others = everywhere - size
    return others <= 0 or (affected - inside) / others <= inside / size / 2


def _gather(book: Casebook, below: list[Incident], parent: str) -> None:
    """Put all into the oldest and set it at the parent."""
    if len(below) < 2:
        return
    ordered = sorted(below, key=lambda own: (own.first_evidence_at_unix_nano, own.id))
    into = ordered[0].id
    for gone in ordered[1:]:
        shift(book, list(gone.evidence), gone, book.after[into])
    raised = msgspec.structs.replace(book.after[into], entity=parent)
    book.put(note(raised, book.now, "raised", f"to {parent}: {len(below)} of its own show it"))
