"""Which open incident a finding belongs to: by entity, by job and by time.

Hardware on different devices is different incidents: two faults under one job do not become one
because the job shares them. A job's symptom goes to the incident of that job whose runbook entries
can cause it, else to the job's own incident. The numbers of the model stand alone.
"""

from collections.abc import Callable

from detector.incidents.index import Index
from detector.incidents.kinds import AWAY, UP_SIGNALS, Kind, layer_of, sign_of
from detector.incidents.profile import Profile
from detector.incidents.seat import Knowledge, Seat
from detector.incidents.waiting import REMEMBER_SECONDS, is_in_passing
from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, SEVERITIES, Finding

# How long after its cause a symptom shows at the latest: the runbook's own default for the lag of
# an edge (runbooks.model.Edge).
AFTER_SECONDS = 600
# How long a job's symptom may be told ahead of the finding that explains it: slow sensors are read
# every 10 s and their verdict wants several readings (catalogue `period_s`, k of n).
JOB_BEFORE_SECONDS = 120

# How firmly a finding belongs: first by what binds it, then by how grave the other side is.
Firmness = tuple[int, int]
NOT: Firmness = (0, 0)
OWN_JOB: Firmness = (1, 0)  # below any claim of a cause, which is 1 + `Causes.effect`
ON_NODE = 3  # where the rank runs, above any claim from elsewhere
ON_DEVICE: Firmness = (7, 0)
ABOVE: Firmness = (4, 0)
SAME_PLACE: Firmness = (5, 0)
RAISED: Firmness = (6, 0)
SAME_DEVICE: Firmness = (9, 0)


def choose(seat: Seat, index: Index, known: Knowledge) -> Incident | None:
    """Return the open incident that the finding joins, or None where it opens its own."""
    rate = _in_passing if is_in_passing(seat.finding) else _BY_KIND[seat.kind]
    rated = [
        (rate(seat, own, known), own.last_onset, own.incident.id, own.incident)
        for own in index.near(seat)
    ]
    best = max(rated, key=lambda own: own[:3], default=None)
    return best[3] if best is not None and best[0] > NOT else None


def _by_place(seat: Seat, own: Profile, known: Knowledge) -> Firmness:
    """Rate a hardware finding: same device, else above or below it where the runbook says so."""
    finding, incident = seat.finding, own.incident
    if not own.is_hardware:
        return NOT
    if own.has_device(finding.entity):
        return SAME_DEVICE
    ups = known.topology(finding.cluster).hangs_on(finding.entity)
    if own.is_raised and incident.entity in ups and sign_of(finding) in own.shown:
        return RAISED
    related = is_related(finding, own, known)
    if finding.entity in own.devices and (related or layer_of(finding) in own.layers):
        return SAME_PLACE
    timely = is_timely(finding, own) or _is_response(finding, own, known)
    return _by_tie(finding, own, ups, related) if timely else NOT


def _by_tie(finding: Finding, own: Profile, ups: tuple[str, ...], related: bool) -> Firmness:
    """Rate a finding that shows at about the time of the others, by what hangs on what."""
    place = own.incident.entity
    if finding.entity == place and own.is_raised:
        return SAME_PLACE  # what its devices share now shows something itself
    hangs = finding.entity in own.ups or not own.devices.isdisjoint(ups) or place in ups
    return ABOVE if (related and hangs) or explains_silence(finding, own) else NOT


def is_related(finding: Finding, own: Profile, known: Knowledge) -> bool:
    """Say whether a cause called for by one side names the other, or one drives the other."""
    return own.drives(finding) or bool(own.common(finding)) or _is_all(finding, own)


def _is_all(finding: Finding, own: Profile) -> bool:
    """Say whether one side says that all peers do what the other does."""
    if finding.movement == "all":
        return any(signal == finding.signal for signal, _, _ in own.shown)
    return any((signal, move) == (finding.signal, "all") for signal, move, _ in own.shown)


def explains_silence(finding: Finding, own: Profile) -> bool:
    """Say whether a node or its agent is away, and all else of that node only fell silent.

    What has no value says nothing of its own where whatever would have read it is away as well.
    """
    if finding.movement not in AWAY or not all(move in AWAY for _, move, _ in own.shown):
        return False
    root = entities.root(finding.entity)
    if root not in own.ups and root not in own.devices:
        return False
    return finding.signal in UP_SIGNALS or any(signal in UP_SIGNALS for signal, _, _ in own.shown)


def is_timely(finding: Finding, own: Profile) -> bool:
    """Say whether a finding showed while the others of an incident held, or soon before or after.

    A finding that is still open goes on working, however long ago it began.
    """
    if _is_above(finding, own):  # no later than they by much
        return own.onset >= finding.opened_at_unix_nano - AFTER_SECONDS * NANOSECONDS
    return _holds(finding, own)


def _is_response(finding: Finding, own: Profile, known: Knowledge) -> bool:
    """Say whether what is above can only answer what lasts beneath: no cause calls for it."""
    is_above = _is_above(finding, own)
    return is_above and not known.causes.called_by(finding) and _holds(finding, own)


def _is_above(finding: Finding, own: Profile) -> bool:
    return entities.inside(own.incident.entity, finding.entity) or finding.entity in own.ups


def _holds(finding: Finding, own: Profile) -> bool:
    shown, slack = finding.opened_at_unix_nano, AFTER_SECONDS * NANOSECONDS
    return own.onset <= shown + slack and (own.ended is None or own.ended >= shown - slack)


def claim(seat: Seat, own: Profile, known: Knowledge) -> Firmness:
    """Rate a job's symptom: same device, else what the incident can cause, else the job's own.

    Claims that are equally firm go to the graver fault. The numbers of a model can stop a job,
    but do not slow it.
    """
    if own.kind == "hardware" and own.has_device(seat.finding.entity):
        return SAME_DEVICE
    if seat.job not in own.incident.jobs:
        return NOT
    if own.kind in {"slow", "stopped"}:
        return OWN_JOB
    if own.kind == "numeric":
        return _stopped(seat, own, known) if seat.kind == "stopped" else NOT
    return _causal(seat, own, known)


def _stopped(seat: Seat, own: Profile, known: Knowledge) -> Firmness:
    """Rate the end of a job whose numbers went bad: theirs, unless hardware claims it."""
    held = [one for one in own.incident.evidence if known.seat(one).kind == "numeric"]
    onset = min(one.opened_at_unix_nano for one in held)
    closed = [one.closed_at_unix_nano for one in held if one.closed_at_unix_nano is not None]
    ended = max(closed) if len(closed) == len(held) else None
    called = known.causes.called(held)
    if not _is_in_time(seat.finding, onset, ended):
        return NOT
    effect = known.causes.effect(called, seat.kind)
    return (1 + effect, _gravity(held)) if effect else OWN_JOB


def _gravity(held: list[Finding]) -> int:
    return max(SEVERITIES.index(own.severity) for own in held)


def _causal(seat: Seat, own: Profile, known: Knowledge) -> Firmness:
    """Rate by what the findings' causes say that they do to a job, with the times in order.

    A rank that differs from its peers has its cause where it runs: there any cause is firmer than
    elsewhere, and what is elsewhere is none, nor is what all share and its node does not show.
    """
    if not own.is_hardware or not _is_in_time(seat.finding, own.onset, own.ended):
        return NOT
    devices, node = known.topology(seat.finding.cluster).placed(seat.finding.entity)
    if any(own.has_device(device) for device in devices):
        return ON_DEVICE
    effect = known.causes.effect(own.called, seat.kind)
    is_there = not node or node in own.devices or node in own.ups
    if not effect or (seat.finding.movement == "outlier" and not is_there):
        return NOT
    return (ON_NODE if node and is_there else 1) + effect, own.gravest


def _is_in_time(symptom: Finding, onset: int, ended: int | None) -> bool:
    """Say whether the symptom showed while the cause held, or soon before or after."""
    shown = symptom.opened_at_unix_nano
    if onset > shown + JOB_BEFORE_SECONDS * NANOSECONDS:
        return False
    return ended is None or ended >= shown - AFTER_SECONDS * NANOSECONDS


def _by_job(seat: Seat, own: Profile, known: Knowledge) -> Firmness:
    """Rate the numbers of a model: the job's own numeric incident and no other."""
    mine = own.incident.entity == seat.entity and own.kind == "numeric"
    return OWN_JOB if mine else NOT


def _in_passing(seat: Seat, own: Profile, known: Knowledge) -> Firmness:
    """Rate a word in passing: as any other finding, else by its node alone."""
    near = abs(seat.finding.opened_at_unix_nano - own.last_onset) <= REMEMBER_SECONDS * NANOSECONDS
    if not near:
        return NOT
    node = seat.finding.entity
    beneath = seat.kind == "hardware" and (node in own.ups or node in own.devices)
    return max(_BY_KIND[seat.kind](seat, own, known), ABOVE if beneath else NOT)


_BY_KIND: dict[Kind, Callable[[Seat, Profile, Knowledge], Firmness]] = {
    "hardware": _by_place,
    "slow": claim,
    "stopped": claim,
    "numeric": _by_job,
}
