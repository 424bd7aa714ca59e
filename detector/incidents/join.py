"""Which open incident a finding belongs to: by entity, by job and by time.

Hardware on different devices is different incidents: two faults under one job do not become one
because the job shares them. A job's symptom goes to the incident of that job whose runbook entries
can cause it, else to the job's own incident. The numbers of the model stand alone.
"""

from collections.abc import Callable, Iterable

import msgspec

from detector.incidents.causes import Causes
from detector.incidents.kinds import Kind, kind_of, layer_of
from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, SEVERITIES, Finding

# How long after its cause a job shows a symptom at the latest: the runbook's own default for the
# lag of an edge (runbooks.model.Edge).
JOB_AFTER_SECONDS = 600
# How long a job's symptom may be told ahead of the finding that explains it: slow sensors are read
# every 10 s and their verdict wants several readings (catalogue `period_s`, k of n).
JOB_BEFORE_SECONDS = 120
ENDED = frozenset({"resolved", "closed", "merged"})

_SAME, _RELATED, _ABOVE = 9, 5, 4  # firmness of a join by place, against 1 and 2 of `Causes.effect`


class Seat(msgspec.Struct, frozen=True):
    """Where a finding belongs before any incident is asked: what it is about, and whose job."""

    finding: Finding
    kind: Kind
    job: str
    jobs: tuple[str, ...]

    @property
    def entity(self) -> str:
        """Return where an incident opened by this finding sits: its device, or its job."""
        return self.finding.entity if self.kind == "hardware" else entities.path("job", self.job)

    @property
    def trouble(self) -> str:
        """Return the second half of an incident's key: layer of hardware, else the symptom."""
        if self.kind == "hardware":
            return layer_of(self.finding)
        return "numeric" if self.kind == "numeric" else "progress"


def seat_of(finding: Finding, inventory: Inventory) -> Seat:
    """Find what a finding is about and which jobs it touches."""
    job = finding.job or inventory.job_of(finding.entity)
    kind = kind_of(finding, job)
    jobs = {job} - {""} or _jobs_at(finding.entity, inventory)
    return Seat(finding, kind, job, tuple(sorted(jobs)))


def _jobs_at(entity: str, inventory: Inventory) -> set[str]:
    """Return the jobs on an entity, on its node, or on all that hang on it (a rack, a loop)."""
    if entity.startswith("node/"):
        return inventory.jobs_on(entity) or inventory.jobs_on(entities.root(entity))
    nodes = {item.entity for item in inventory if entities.kind(item.entity) == "node"}
    below = (node for node in nodes if entity in inventory.parents(node))
    return {job for node in below for job in inventory.jobs_on(node)}


def choose(
    seat: Seat, incidents: Iterable[Incident], causes: Causes, inventory: Inventory
) -> Incident | None:
    """Return the open incident that the finding joins, or None where it opens its own."""
    firmness = _BY_KIND[seat.kind]
    rated = [
        (firmness(seat, incident, causes, inventory), _rank(incident), incident)
        for incident in incidents
        if incident.cluster == seat.finding.cluster and incident.state not in ENDED
    ]
    best = max(rated, key=lambda own: own[:2], default=None)
    return best[2] if best is not None and best[0] > 0 else None


def _rank(incident: Incident) -> tuple[int, int, str]:
    """Order equally firm incidents: the graver, then the one that moved last."""
    return SEVERITIES.index(incident.severity), last_onset(incident), incident.id


def kind_of_incident(incident: Incident, inventory: Inventory) -> Kind:
    """Return what an incident is about: what the finding that opened it was."""
    return seat_of(incident.evidence[0], inventory).kind


def last_onset(incident: Incident) -> int:
    """Return when its latest finding opened, ns."""
    return max(finding.opened_at_unix_nano for finding in incident.evidence)


def hardware_evidence(incident: Incident, inventory: Inventory) -> list[Finding]:
    """Return the findings of an incident that are about devices."""
    return [own for own in incident.evidence if seat_of(own, inventory).kind == "hardware"]


def _by_place(seat: Seat, incident: Incident, causes: Causes, inventory: Inventory) -> int:
    """Rate a hardware finding: same device, else above or below it where the runbook says so."""
    held = hardware_evidence(incident, inventory)
    if not held:
        return 0
    own = seat.finding
    places = {incident.entity, *(finding.entity for finding in held)}
    if any(_same_device(own.entity, place) for place in places):
        return _SAME
    related = _related_by_runbook(own, held, causes)
    if own.entity in places and (related or layer_of(own) in {layer_of(one) for one in held}):
        return _RELATED
    hangs = any(_hangs_on(own.entity, place, inventory) for place in places)
    return _ABOVE if related and hangs else 0


def _same_device(one: str, other: str) -> bool:
    """Say whether both are one device or parts of it; a node or switch as a whole is none."""
    if entities.root(one) in {one, other}:
        return False
    return entities.inside(one, other) or entities.inside(other, one)


def _hangs_on(one: str, other: str, inventory: Inventory) -> bool:
    return one in inventory.parents(other) or other in inventory.parents(one)


def _related_by_runbook(own: Finding, held: list[Finding], causes: Causes) -> bool:
    """Say whether a cause called for by one side names the other side."""
    if causes.name(causes.called(held), own):
        return True
    called = causes.called([own])
    return any(causes.name(called, finding) for finding in held)


def _by_cause(seat: Seat, incident: Incident, causes: Causes, inventory: Inventory) -> int:
    """Rate a job's symptom: same device first, then an incident that can cause it, then the job's.

    A numeric incident can stop its job, but does not slow it.
    """
    kind = kind_of_incident(incident, inventory)
    if kind == "hardware":
        held = hardware_evidence(incident, inventory)
        if any(_same_device(seat.finding.entity, own.entity) for own in held):
            return _SAME
    if seat.job not in incident.jobs:
        return 0
    if kind in {"slow", "stopped"}:
        return 1
    return 1 + can_cause(incident, seat, causes) if can_cause(incident, seat, causes) else 0


def can_cause(incident: Incident, seat: Seat, causes: Causes) -> int:
    """Say how firmly the incident's own entries claim the symptom, with the times in order."""
    own = [finding for finding in incident.evidence if finding.id != seat.finding.id]
    begin = min((finding.opened_at_unix_nano for finding in own), default=0)
    last = max((finding.opened_at_unix_nano for finding in own), default=0)
    shown = seat.finding.opened_at_unix_nano
    if begin > shown + JOB_BEFORE_SECONDS * NANOSECONDS:
        return 0
    if last < shown - JOB_AFTER_SECONDS * NANOSECONDS:
        return 0
    return causes.effect(causes.called(own), seat.kind)


def _by_job(seat: Seat, incident: Incident, causes: Causes, inventory: Inventory) -> int:
    """Rate the numbers of a model: the job's own numeric incident and no other."""
    mine = incident.entity == seat.entity
    return int(mine and kind_of_incident(incident, inventory) == "numeric")


Firmness = Callable[[Seat, Incident, Causes, Inventory], int]
_BY_KIND: dict[Kind, Firmness] = {
    "hardware": _by_place,
    "slow": _by_cause,
    "stopped": _by_cause,
    "numeric": _by_job,
}
