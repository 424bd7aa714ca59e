"""How an incident moves from state to state, and what of it is worth telling.

open -> acknowledged -> mitigated -> resolved -> closed, besides merged. An incident is mitigated
once none of its findings is open, and resolved when that has lasted; a finding that comes back in
between takes it back. A fault that comes after that is a new incident of the next generation.
"""

from typing import Literal

import msgspec

from detector.incidents.evidence import is_open
from forewarn.incident import Incident, State, TimelineItem
from forewarn.records import NANOSECONDS, SEVERITIES

# Quiet for this long counts as over: the longest period of a detector's slow aggregates (60 s)
# times the persistence of the slowest class; flapping within it stays one incident.
QUIET_SECONDS = 300
# Where a finding was lost with its detector, quiet proves less: what took its place learns anew for
# a while (bands and counters: half an hour) before it would say it again.
QUIET_UNHEARD_SECONDS = 3600
# A resolved incident takes a person's word (confirm, refute) as before; after a day it is filed.
CLOSE_SECONDS = 24 * 3600
LIVE: frozenset[State] = frozenset({"open", "acknowledged", "mitigated"})

NEXT: dict[State, frozenset[State]] = {
    "open": frozenset({"acknowledged", "mitigated", "resolved", "merged"}),
    "acknowledged": frozenset({"mitigated", "resolved", "merged"}),
    "mitigated": frozenset({"open", "acknowledged", "resolved", "merged"}),
    "resolved": frozenset({"closed"}),
    "closed": frozenset(),
    "merged": frozenset(),
}

Telling = Literal["open", "update", "resolve"]
# What is told, and as what; every other change is kept and shown, but wakes nobody.
TOLD: dict[str, Telling] = {
    "opened": "open",
    "severity": "update",  # it became graver
    "cause": "update",  # another cause leads
    "evidence": "update",  # another signal or code joined
    "raised": "update",  # it sits higher than thought
    "acknowledged": "update",
    "confirmed": "update",
    "refuted": "update",
    "resolved": "resolve",
    "merged": "resolve",
}


def move(incident: Incident, state: State, now: int, by: str = "", text: str = "") -> Incident:
    """Bring an incident to `state`, with a line in its timeline.

    Raises:
        ValueError: if that step is not in `NEXT`.

    """
    if state not in NEXT[incident.state]:
        raise ValueError(f"incident {incident.id} is {incident.state}: it cannot become {state}")
    stamps = {"mitigated": "mitigated_at_unix_nano", "resolved": "resolved_at_unix_nano"}
    changes: dict[str, object] = {"state": state}
    if state in stamps:
        changes[stamps[state]] = now
    if incident.state == "mitigated" and state in {"open", "acknowledged"}:
        changes["mitigated_at_unix_nano"] = None
    return note(msgspec.structs.replace(incident, **changes), now, state, text, by)


def note(incident: Incident, now: int, what: str, text: str = "", by: str = "") -> Incident:
    """Append one line to the timeline."""
    line = TimelineItem(now, what, text, by)
    return msgspec.structs.replace(
        incident, timeline=(*incident.timeline, line), updated_at_unix_nano=now
    )


def follow_evidence(incident: Incident, now: int) -> Incident:
    """Move as the findings and the time say: to mitigated and back, to resolved, to closed."""
    if incident.state in {"open", "acknowledged"} and not is_showing(incident):
        return move(incident, "mitigated", now, text="no finding is open any more" + _but(incident))
    if incident.state == "mitigated":
        return _out_of_quiet(incident, now)
    if incident.state == "resolved" and _since(incident.resolved_at_unix_nano, now, CLOSE_SECONDS):
        return move(incident, "closed", now)
    return incident


def _out_of_quiet(incident: Incident, now: int) -> Incident:
    if is_showing(incident):
        before: State = "acknowledged" if was_acknowledged(incident) else "open"
        return move(incident, before, now, text="a finding is open again")
    seconds = QUIET_UNHEARD_SECONDS if _is_unheard(incident) else QUIET_SECONDS
    if _since(incident.mitigated_at_unix_nano, now, seconds):
        return move(incident, "resolved", now, text=f"quiet for {seconds} s" + _but(incident))
    return incident


def _is_unheard(incident: Incident) -> bool:
    """Say whether findings of it were lost with their detector, shown or only counted."""
    marked = any(line.what == "not_collected" for line in incident.timeline)
    return bool(incident.not_collected) or (marked and incident.evidence_left_out > 0)


def _but(incident: Incident) -> str:
    if not _is_unheard(incident):
        return ""
    return "; some are not collected: nobody knows whether they are over"


def _since(begin: int | None, now: int, seconds: int) -> bool:
    return begin is not None and now - begin >= seconds * NANOSECONDS


def is_showing(incident: Incident) -> bool:
    """Say whether any finding of it is still open, as far as anybody still speaks of it."""
    if incident.evidence_left_out_open > 0:
        return True
    return any(is_open(own) and own.id not in incident.not_collected for own in incident.evidence)


def was_acknowledged(incident: Incident) -> bool:
    """Say whether a person has taken it."""
    return any(line.what == "acknowledged" and line.by for line in incident.timeline)


def is_graver(incident: Incident, before: Incident) -> bool:
    """Say whether the severity went up."""
    return SEVERITIES.index(incident.severity) > SEVERITIES.index(before.severity)
