"""Holds incidents against the ground truth of a simulation: found, how soon, with which cause."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS

if TYPE_CHECKING:
    from simulator import Truth


# Events bear the time of their node's own clock, which may run a little behind: one sample's worth.
CLOCK_SECONDS = 1


class Row(msgspec.Struct, frozen=True):
    """One injected fault and what became of it; `cause` is the entry that came first."""

    mode: str
    entity: str
    form: str
    d_prime: float
    expected: tuple[str, ...]
    incident: str
    delay_seconds: float | None
    cause: str
    right: bool


class Score(msgspec.Struct, frozen=True):
    """All injected faults, and the incidents that belong to none of them."""

    rows: tuple[Row, ...]
    others: tuple[str, ...]

    @property
    def perfect(self) -> bool:
        """Say whether each fault was found with its cause first and nothing else was raised."""
        return all(row.right for row in self.rows) and not self.others


def score(truths: "Iterable[Truth]", incidents: Iterable[Incident]) -> Score:
    """Match each fault with the first incident at its entity after its onset."""
    open_to_match = [own for own in incidents if own.state != "merged"]
    rows: list[Row] = []
    for truth in sorted(truths, key=lambda own: own.onset_unix_nano):
        found = next((own for own in open_to_match if _belongs(own, truth)), None)
        if found is not None:
            open_to_match.remove(found)
        rows.append(_row(truth, found))
    return Score(tuple(rows), tuple(own.id for own in open_to_match))


def _belongs(incident: Incident, truth: "Truth") -> bool:
    """Say whether the incident began after the onset, at the fault's entity or above it."""
    if incident.first_evidence_at_unix_nano < truth.onset_unix_nano - CLOCK_SECONDS * NANOSECONDS:
        return False
    places = (incident.entity, *incident.affected)
    return any(
        entities.inside(truth.entity, place) or entities.inside(place, truth.entity)
        for place in places
        if entities.kind(place) == entities.kind(truth.entity) or place == incident.entity
    )


def _row(truth: "Truth", found: Incident | None) -> Row:
    cause = found.hypotheses[0].entry if found and found.hypotheses else ""
    delay = None
    if found is not None:
        delay = (found.detected_at_unix_nano - truth.onset_unix_nano) / NANOSECONDS
    return Row(
        mode=truth.mode,
        entity=truth.entity,
        form=truth.form,
        d_prime=truth.d_prime,
        expected=truth.expected,
        incident=found.id if found else "",
        delay_seconds=delay,
        cause=cause,
        right=cause in truth.expected,
    )
