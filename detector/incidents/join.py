"""Which open incident a finding belongs to: by entity, by job and by time.

Hardware on different devices is different incidents: two faults under one job do not become one
because the job shares them. A job's symptom goes to the incident of that job whose runbook entries
can cause it, else to the job's own incident. The numbers of the model stand alone.
"""

from collections.abc import Callable, Iterable

from detector.incidents.kinds import Kind, layer_of
from detector.incidents.lifecycle import LIVE
from detector.incidents.seat import Knowledge, Seat
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

# How firmly a finding belongs: first by what binds it, then by how grave the other side is.
Firmness = tuple[int, int]
NOT: Firmness = (0, 0)
OWN_JOB: Firmness = (1, 0)  # below any claim of a cause, which is 1 + `Causes.effect`
ABOVE: Firmness = (4, 0)
SAME_PLACE: Firmness = (5, 0)
RAISED: Firmness = (6, 0)
SAME_DEVICE: Firmness = (9, 0)


def choose(seat: Seat, incidents: Iterable[Incident], known: Knowledge) -> Incident | None:
    """Return the open incident that the finding joins, or None where it opens its own."""
    rate = _BY_KIND[seat.kind]
    rated = [
        (rate(seat, own, known), last_onset(own), own.id, own)
        for own in incidents
        if own.cluster == seat.finding.cluster and own.state in LIVE
    ]
    best = max(rated, key=lambda own: own[:3], default=None)
    return best[3] if best is not None and best[0] > NOT else None


def last_onset(incident: Incident) -> int:
    """Return when its latest finding opened, ns."""
    return max(finding.opened_at_unix_nano for finding in incident.evidence)


def _by_place(seat: Seat, incident: Incident, known: Knowledge) -> Firmness:
    """Rate a hardware finding: same device, else above or below it where the runbook says so."""
    held, own = known.hardware(incident), seat.finding
    if not held:
        return NOT
    places = {incident.entity, *(finding.entity for finding in held)}
    if any(is_same_device(own.entity, place) for place in places):
        return SAME_DEVICE
    inventory = known.inventory(own.cluster)
    if _is_one_more(own, incident, held, inventory):
        return RAISED
    related = _is_related(own, held, known)
    if own.entity in places and (related or layer_of(own) in {layer_of(one) for one in held}):
        return SAME_PLACE
    if related and any(_hangs_on(own.entity, place, inventory) for place in places):
        return ABOVE
    return NOT


def _is_one_more(
    own: Finding, incident: Incident, held: list[Finding], inventory: Inventory
) -> bool:
    """Say whether the incident was raised to a parent of the device and shows the same signal."""
    if incident.entity in {finding.entity for finding in held}:
        return False
    shown = {(one.signal, one.movement, one.code) for one in held}
    below = incident.entity in hangs_on(own.entity, inventory)
    return below and (own.signal, own.movement, own.code) in shown


def hangs_on(entity: str, inventory: Inventory) -> tuple[str, ...]:
    """Return what a device hangs on, and the jobs that it works for."""
    jobs = (entities.path("job", own) for own in sorted(inventory.jobs_on(entity)))
    return (*inventory.parents(entity), *jobs)


def is_same_device(one: str, other: str) -> bool:
    """Say whether both are one device or parts of it; a node or switch as a whole is none."""
    if entities.root(one) in {one, other}:
        return False
    return entities.inside(one, other) or entities.inside(other, one)


def _hangs_on(one: str, other: str, inventory: Inventory) -> bool:
    return one in inventory.parents(other) or other in inventory.parents(one)


def _is_related(own: Finding, held: list[Finding], known: Knowledge) -> bool:
    """Say whether a cause called for by one side names the other side."""
    causes = known.causes
    if causes.name(causes.called(held), own):
        return True
    called = causes.called([own])
    return any(causes.name(called, finding) for finding in held)


def claim(seat: Seat, incident: Incident, known: Knowledge) -> Firmness:
    """Rate a job's symptom: same device, else what the incident can cause, else the job's own.

    Claims that are equally firm go to the graver fault. The numbers of a model can stop a job,
    but do not slow it.
    """
    kind = known.kind(incident)
    held = [] if kind != "hardware" else known.hardware(incident)
    if any(is_same_device(seat.finding.entity, own.entity) for own in held):
        return SAME_DEVICE
    if seat.job not in incident.jobs:
        return NOT
    if kind in {"slow", "stopped"}:
        return OWN_JOB
    if kind == "numeric":
        held = [own for own in incident.evidence if known.seat(own).kind == "numeric"]
        return _stopped(seat, held, known) if seat.kind == "stopped" else NOT
    return _causal(seat, held, known)


def _stopped(seat: Seat, held: list[Finding], known: Knowledge) -> Firmness:
    """Rate the end of a job whose numbers went bad: theirs, unless hardware claims it."""
    in_time = OWN_JOB if _is_in_time(seat.finding, held) else NOT
    return max(_causal(seat, held, known), in_time)


def _causal(seat: Seat, held: list[Finding], known: Knowledge) -> Firmness:
    """Rate by what the findings' causes say that they do to a job, with the times in order."""
    effect = known.causes.effect(known.causes.called(held), seat.kind)
    if not effect or not _is_in_time(seat.finding, held):
        return NOT
    return 1 + effect, max(SEVERITIES.index(own.severity) for own in held)


def _is_in_time(symptom: Finding, held: list[Finding]) -> bool:
    """Say whether the symptom showed while the findings held, or soon before or after.

    A finding that is still open goes on working on the job, however long ago it began.
    """
    shown = symptom.opened_at_unix_nano
    if min(own.opened_at_unix_nano for own in held) > shown + JOB_BEFORE_SECONDS * NANOSECONDS:
        return False
    oldest = shown - JOB_AFTER_SECONDS * NANOSECONDS
    return any(own.closed_at_unix_nano is None or own.closed_at_unix_nano >= oldest for own in held)


def _by_job(seat: Seat, incident: Incident, known: Knowledge) -> Firmness:
    """Rate the numbers of a model: the job's own numeric incident and no other."""
    mine = incident.entity == seat.entity and known.kind(incident) == "numeric"
    return OWN_JOB if mine else NOT


_BY_KIND: dict[Kind, Callable[[Seat, Incident, Knowledge], Firmness]] = {
    "hardware": _by_place,
    "slow": claim,
    "stopped": claim,
    "numeric": _by_job,
}
