"""Findings that nobody speaks of any more: their detector was restarted and knows them no longer.

A detector that lives says something of every open finding again and again (each minute while it
sees it, and its end within ten minutes after), so a long silence about one means that whoever
opened it is gone. That says nothing of the fault: the finding is *not collected*, neither open nor
over. One that is seen again is begun anew, or takes the mark off.
"""

from collections.abc import Callable

import msgspec

from detector.incidents.casebook import Casebook
from detector.incidents.evidence import is_open
from detector.incidents.lifecycle import LIVE, note
from detector.incidents.store import Store
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, Finding

# Three times the longest pause of a living detector (ledger: 600 s until what is silent closes).
UNHEARD_SECONDS = 1800
# Something that is away is told once, when it goes: silence about it is longer.
UNHEARD_SILENCE_SECONDS = 24 * 3600
ROUND_SECONDS = 60


class Rounds:
    """Says when what is done now and then is due, by the wall clock.

    A decide that has just begun may be catching up: what it misses may be there, not yet read.
    """

    def __init__(self, wall: Callable[[], int]) -> None:
        self._wall = wall
        self._next = wall() + UNHEARD_SECONDS * NANOSECONDS

    def is_due(self) -> bool:
        """Say so once a minute, after the first half hour."""
        now = self._wall()
        if now < self._next:
            return False
        self._next = now + ROUND_SECONDS * NANOSECONDS
        return True


def mark_unheard(book: Casebook, store: Store) -> None:
    """Mark what was not heard of for long in every live incident; inside the step's transaction."""
    for incident in list(book.after.values()):
        if incident.state in LIVE:
            _mark(book, store, incident)


def _mark(book: Casebook, store: Store, incident: Incident) -> None:
    lost = [own.id for own in incident.evidence if _is_lost(own, incident, book.now)]
    counted = 0
    if incident.evidence_left_out_open:
        before = book.now - UNHEARD_SECONDS * NANOSECONDS
        shown = (own.id for own in incident.evidence)
        counted = store.places.drop_unheard(incident.id, shown, before)
    if not lost and not counted:
        return
    marked = msgspec.structs.replace(
        incident,
        not_collected=(*incident.not_collected, *lost),
        evidence_left_out_open=max(0, incident.evidence_left_out_open - counted),
    )
    text = f"{len(lost) + counted} findings: no word of them for {UNHEARD_SECONDS} s"
    book.revise(note(marked, book.now, "not_collected", text))


def _is_lost(own: Finding, incident: Incident, now: int) -> bool:
    if not is_open(own) or own.id in incident.not_collected:
        return False
    seconds = UNHEARD_SILENCE_SECONDS if own.family == "silence" else UNHEARD_SECONDS
    return now - own.updated_at_unix_nano >= seconds * NANOSECONDS
