"""Findings go from one incident to another; one that is left empty is merged into the other."""

from collections.abc import Sequence

import msgspec

from detector.incidents.assess import gravest
from detector.incidents.casebook import Casebook, union
from detector.incidents.evidence import hold
from detector.incidents.lifecycle import move, note
from forewarn.incident import Incident
from forewarn.records import Finding

NAMED = 5  # incidents that a line of the timeline names


def merge(book: Casebook, into: Incident, gone: Sequence[Incident]) -> None:
    """Put incidents into another one, with all that they show and count."""
    drawn = [finding for own in gone for finding in own.evidence]
    names = ", ".join(own.id for own in gone[:NAMED]) + (" …" if gone[NAMED:] else "")
    _take_over(book, _sums(into, gone), drawn, names)
    for own in gone:
        ended = move(own, "merged", book.now, text=f"into {into.id}")
        book.put(msgspec.structs.replace(ended, merged_into=into.id))


def shift(book: Casebook, drawn: Sequence[Finding], gone: Incident, into: Incident) -> None:
    """Move findings from one incident to another; one that is left empty is merged into it."""
    left = tuple(own for own in gone.evidence if own not in drawn)
    if not left:
        merge(book, into, (gone,))
        return
    _take_over(book, into, drawn, gone.id)
    shrunk = msgspec.structs.replace(
        gone, evidence=left, affected=union((), (own.entity for own in left)),
        severity=gravest(left),
    )  # fmt: skip
    book.put(note(shrunk, book.now, "handed_over", f"{len(drawn)} findings to {into.id}"))


def _take_over(book: Casebook, into: Incident, drawn: Sequence[Finding], of: str) -> None:
    grown, left = hold(into, (*into.evidence, *drawn))
    affected = union(grown.affected, (own.entity for own in drawn))
    grown = msgspec.structs.replace(grown, affected=affected)
    if drawn:
        grown = note(grown, book.now, "taken_over", f"{len(drawn)} findings of {of}")
    book.put(grown)
    book.set_aside(into.id, left)


def _sums(into: Incident, gone: Sequence[Incident]) -> Incident:
    """Return the incident with all that those hold besides their evidence which are gone."""
    everything = (into, *gone)
    return msgspec.structs.replace(
        into,
        affected=union((), (one for own in everything for one in own.affected)),
        jobs=union((), (one for own in everything for one in own.jobs)),
        not_collected=union((), (one for own in everything for one in own.not_collected)),
        evidence_left_out=sum(own.evidence_left_out for own in everything),
        evidence_left_out_open=sum(own.evidence_left_out_open for own in everything),
    )
