"""Raises a fault to what its devices share: three hot GPUs of one loop are one incident there.

A shared parent is believed when most of its own show the same signal and the others do not, or
when it shows something itself that explains them.
"""

from collections.abc import Iterable
from itertools import pairwise

import msgspec

from detector.incidents.casebook import Casebook
from detector.incidents.crowd import SIBLINGS, Shown
from detector.incidents.join import AFTER_SECONDS, explains_silence, is_related, is_timely
from detector.incidents.kinds import SHARED, UP_SIGNALS
from detector.incidents.lifecycle import note
from detector.incidents.merge import merge
from detector.incidents.profile import Profile
from detector.incidents.seat import Knowledge
from forewarn import entity as entities
from forewarn.records import NANOSECONDS, Finding
from runbooks import UNKNOWN


def raise_shared(book: Casebook, finding: Finding, known: Knowledge) -> None:
    """Make one incident at the common parent of those that show what a new finding shows."""
    index, cluster = book.index, finding.cluster
    own = index.get(index.homes.get((cluster, finding.id), ""))
    ups = known.topology(cluster).hangs_on(finding.entity)
    if own is None or own.kind != "hardware":
        return
    seen = frozenset(up for up in ups if _shows(book, finding, up, known))
    parent = index.crowds.parent(finding, own.incident.entity, seen)
    if parent is None or (parent == own.incident.entity and not _others(book, own, parent)):
        return
    below = index.crowds.below(finding, parent)
    homes = {index.homes[cluster, one.finding] for one in below}
    found = [one for id_ in sorted(homes) if (one := index.get(id_)) is not None]
    if _apart(below, found, book, finding, (parent, *ups)) < SIBLINGS:
        return
    fit = [one for one in found if one.kind == "hardware" and _is_below(one, parent, known)]
    there = [one for one in index.at(cluster, parent) if one not in fit]
    fit += [one for one in there if one.incident.entity == parent and is_timely(finding, one)]
    gather(book, fit, parent, f"{len(below)} of its own show it")


def _apart(
    below: list[Shown], found: list[Profile], book: Casebook, finding: Finding, ups: tuple[str, ...]
) -> int:
    """Return how many show it independently: a place that explains its own counts as one.

    That a switch takes all its ports down says nothing of the hall, were another port to go.
    """
    explained = {
        one.incident.id for one in found if one.is_raised and one.incident.entity not in ups
    }
    homes = (book.index.homes[finding.cluster, one.finding] for one in below)
    return len(explained) + sum(home not in explained for home in homes)


def _others(book: Casebook, own: Profile, parent: str) -> bool:
    """Say whether other incidents stand below the place of one: they came before it was raised."""
    below = book.index.below(own.incident.cluster, parent)
    return any(one.kind == "hardware" and one is not own for one in below)


def _shows(book: Casebook, finding: Finding, parent: str, known: Knowledge) -> bool:
    """Say whether a parent shows something itself that has to do with a finding below it."""
    there = book.index.at(finding.cluster, parent)
    return any(parent in own.devices and is_related(finding, own, known) for own in there)


def _is_below(own: Profile, parent: str, known: Knowledge) -> bool:
    """Say whether all devices of an incident hang on the parent, or it sits there."""
    topology = known.topology(own.incident.cluster)
    places = own.devices - {parent}
    return all(parent in topology.hangs_on(place) for place in places)


def gather_below(book: Casebook, finding: Finding, known: Knowledge) -> None:
    """Draw in what hangs on an entity that has just shown something itself that explains it."""
    own = book.index.get(book.index.homes.get((finding.cluster, finding.id), ""))
    if own is None:
        return
    if finding.signal in UP_SIGNALS:
        _gather_silent(book, finding, own)
        return
    if entities.kind(finding.entity) in SHARED:
        _gather_explained(book, finding, own, known)
    _go_to_parent(book, finding, known)


def _gather_silent(book: Casebook, finding: Finding, own: Profile) -> None:
    node = entities.root(finding.entity)
    index, cluster = book.index, finding.cluster
    near = {one.incident.id: one for one in (*index.below(cluster, node), *index.at(cluster, node))}
    near.pop(own.incident.id, None)
    silent = [one for one in near.values() if explains_silence(finding, one)]
    silent = [one for one in silent if one.kind == "hardware" and is_timely(finding, one)]
    if silent:
        gather(book, [*silent, own], node, f"{finding.signal} of it explains their silence")


def _gather_explained(book: Casebook, finding: Finding, own: Profile, known: Knowledge) -> None:
    parent = finding.entity
    explained = [
        other
        for other in book.index.below(finding.cluster, parent)
        if other is not own and _is_explained(other, finding, known)
    ]
    is_beneath = own.incident.entity != parent and _is_explained(own, finding, known)
    if explained or is_beneath:
        gather(book, [*explained, own], parent, f"{finding.signal} of it explains them")


def _go_to_parent(book: Casebook, finding: Finding, known: Knowledge) -> None:
    """Put an incident into that of what its devices hang on, once a finding of it is explained."""
    own = book.index.get(book.index.homes[finding.cluster, finding.id])
    if own is None or own.kind != "hardware":
        return
    for parent in known.topology(finding.cluster).parents(own.incident.entity):
        if entities.kind(parent) not in SHARED or not _is_below(own, parent, known):
            continue
        there = [
            other
            for other in book.index.at(finding.cluster, parent)
            if other.incident.entity == parent
            and other is not own
            and is_timely(finding, other)
            and own.onset >= other.onset - AFTER_SECONDS * NANOSECONDS
            and _is_seated(finding, other, parent, known)
        ]
        if there:
            gather(book, [*there, own], parent, f"it explains {finding.signal}")
            return


def _is_seated(finding: Finding, other: Profile, parent: str, known: Knowledge) -> bool:
    """Say whether what an incident at the parent shows would bring the finding about."""
    kind = entities.kind(parent)
    seated = any(known.causes.sits(entry, kind) for entry in other.common(finding))
    return seated or other.drives(finding)


def _is_explained(other: Profile, finding: Finding, known: Knowledge) -> bool:
    """Say whether a cause that sits at the finding's entity names both, and the times fit."""
    if other.kind != "hardware" or not _is_below(other, finding.entity, known):
        return False
    if other.onset < finding.opened_at_unix_nano - AFTER_SECONDS * NANOSECONDS:
        return False
    kind = entities.kind(finding.entity)
    seated = any(known.causes.sits(entry, kind) for entry in other.common(finding))
    return seated or other.drives(finding) or _is_all_of(finding, other, known)


def gather_by_cause(book: Casebook, known: Knowledge) -> list[str]:
    """Make one of incidents that one cause at one shared place explains best; return their ids.

    Two power supplies of a rack that fail one after the other, say, without a word of the rack.
    """
    by_cause: dict[tuple[str, str, str], list[Profile]] = {}
    for own in book.after.values():
        lead = own.hypotheses[0] if own.hypotheses else None
        if lead is not None and lead.entry != UNKNOWN and entities.kind(lead.entity) in SHARED:
            profile = book.index.get(own.id)
            if profile is not None and profile.kind == "hardware":
                by_cause.setdefault((own.cluster, lead.entry, lead.entity), []).append(profile)
    gathered = []
    for (_, entry, parent), found in by_cause.items():
        below = [own for own in found if _is_below(own, parent, known)]
        together = _together(below)
        if len(together) > 1:
            gather(book, together, parent, f"{entry} there explains them best")
            gathered += [own.incident.id for own in together]
    return gathered


def _together(found: list[Profile]) -> list[Profile]:
    """Return those that began soon after one another, the latest ones."""
    ordered = sorted(found, key=lambda own: (own.onset, own.incident.id))
    begin = 0
    for at, (one, following) in enumerate(pairwise(ordered), 1):
        if following.onset - one.last_onset > AFTER_SECONDS * NANOSECONDS:
            begin = at
    return ordered[begin:]


def _is_all_of(finding: Finding, other: Profile, known: Knowledge) -> bool:
    return finding.movement == "all" and is_related(finding, other, known)


def gather(book: Casebook, found: Iterable[Profile], parent: str, why: str) -> None:
    """Put all into the oldest and set it at the parent; nothing where it sits there alone."""
    ordered = sorted(
        (own.incident for own in found),
        key=lambda own: (own.first_evidence_at_unix_nano, own.id),
    )
    if not ordered or (len(ordered) == 1 and ordered[0].entity == parent):
        return
    into, gone = ordered[0], ordered[1:]
    if into.entity != parent:
        raised = msgspec.structs.replace(into, entity=parent)
        into = note(raised, book.now, "raised", f"to {parent}: {why}")
    merge(book, into, gone)
