"""What people do to incidents: acknowledge, resolve, confirm and refute a cause."""

from collections.abc import Callable
from typing import Literal, get_args

import msgspec

from detector.incidents.lifecycle import NEXT, move, note
from forewarn.errors import ForewarnError
from forewarn.incident import Feedback, Incident, Proof, State

PROOFS: tuple[Proof, ...] = get_args(Proof)
Verdict = Literal["confirmed", "refuted"]
Action = Callable[[Incident, int], Incident]


class ActionError(ForewarnError):
    """That cannot be done to this incident; the message says why and what can."""


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A person's word on one cause. `proof` is mandatory to confirm."""

    entry: str
    by: str
    proof: Proof | None = None
    rev: int | None = None
    note: str = ""


def acknowledge(by: str, text: str = "") -> Action:
    """Take an incident in hand."""
    return lambda incident, now: _moved(incident, "acknowledged", now, by, text)


def resolve(by: str, text: str = "") -> Action:
    """Call an incident over; what its findings do after that does not open it again."""
    return lambda incident, now: _moved(incident, "resolved", now, by, text)


def _moved(incident: Incident, state: State, now: int, by: str, text: str) -> Incident:
    if state not in NEXT[incident.state]:
        raise ActionError(f"incident {incident.id} is {incident.state}: it cannot become {state}")
    return move(incident, state, now, by, text)


def confirm(judgement: Judgement) -> Action:
    """Say that an entry was the cause. Raises ActionError without a proof."""
    if judgement.proof is None:
        raise ActionError("a confirmed cause needs a proof: one of " + ", ".join(PROOFS))
    return lambda incident, now: _judged(incident, judgement, "confirmed", now)


def refute(judgement: Judgement) -> Action:
    """Say that an entry was not the cause."""
    return lambda incident, now: _judged(incident, judgement, "refuted", now)


def _judged(incident: Incident, judgement: Judgement, verdict: Verdict, now: int) -> Incident:
    rev = _revision(incident, judgement)
    word = Feedback(
        entry=judgement.entry,
        rev=rev,
        verdict=verdict,
        proof=judgement.proof,
        by=judgement.by,
        time_unix_nano=now,
        note=judgement.note,
    )
    said = msgspec.structs.replace(incident, feedback=(*incident.feedback, word))
    text = f"{judgement.entry}@{rev} ({judgement.proof or 'no proof'}) {judgement.note}".rstrip()
    return note(said, now, verdict, text, judgement.by)


def _revision(incident: Incident, judgement: Judgement) -> int:
    """Return the revision meant: the one given, else the one that was ranked."""
    if judgement.rev is not None:
        return judgement.rev
    ranked = (own.rev for own in incident.hypotheses if own.entry == judgement.entry)
    rev = next(ranked, None)
    if rev is None:
        raise ActionError(
            f"{judgement.entry} is not among the causes of {incident.id}; "
            "give its revision too if it was the cause all the same"
        )
    return rev
