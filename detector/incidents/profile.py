"""What joining asks of an incident, kept up while findings are added so that asking is cheap."""

from detector.incidents.evidence import MAX_EVIDENCE
from detector.incidents.kinds import SHARED, Sign, drivers_of, layer_of, sign_of
from detector.incidents.seat import Knowledge, Seat
from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.records import SEVERITIES, Finding


class Profile:
    """Sets and bounds over the hardware findings of an incident (`devices`, `shown`, `called` …).

    `drivers` are the signals that drive those shown, by the catalogue.
    `ups` is what the devices hang on; `symptoms` counts the job's symptoms; `ended` is when the
    last hardware finding closed, None while one is open.
    """

    def __init__(self, incident: Incident, known: Knowledge) -> None:
        self.incident, self.kind = incident, known.kind(incident)
        self._known, self._topology = known, known.topology(incident.cluster)
        self.devices: set[str] = set()
        self._above: set[str] = set()
        self.ups: set[str] = set()
        self.shown: set[Sign] = set()
        self.layers: set[str] = set()
        self.drivers: set[str] = set()
        self._shared: set[str] = set()
        self.called: set[str] = set()
        self.named: set[str] = set()
        self._signs: dict[Sign, tuple[int, int]] = {}
        self.onset = self.last_onset = incident.evidence[0].opened_at_unix_nano
        self.ended: int | None = 0
        self.gravest = self.symptoms = 0
        for finding in incident.evidence:
            self._take(known.seat(finding))
        if self.is_raised and incident.evidence_left_out:
            for entity in incident.affected:
                if incident.entity in self._topology.hangs_on(entity):
                    self._place(entity)

    def grow(self, incident: Incident, seat: Seat) -> None:
        """Take the next revision of the incident, which has one finding more."""
        self.incident = incident
        self._take(seat)

    def _take(self, seat: Seat) -> None:
        finding, sign = seat.finding, sign_of(seat.finding)
        severity = SEVERITIES.index(finding.severity)
        count, gravest = self._signs.get(sign, (0, 0))
        self._signs[sign] = count + 1, max(severity, gravest)
        self.last_onset = max(self.last_onset, finding.opened_at_unix_nano)
        if seat.kind == "hardware":
            self._take_hardware(finding, sign, severity)
        elif seat.kind in {"slow", "stopped"}:
            self.symptoms += 1

    def _take_hardware(self, finding: Finding, sign: Sign, severity: int) -> None:
        opened = finding.opened_at_unix_nano
        self.onset = min(self.onset, opened) if self.shown else opened
        self.ended = _later(self.ended, finding.closed_at_unix_nano)
        self.gravest = max(self.gravest, severity)
        self._place(finding.entity)
        if entities.kind(finding.entity) in SHARED:
            self._shared.add(finding.signal)
        if sign not in self.shown:
            self.shown.add(sign)
            self.layers.add(layer_of(finding))
            self.drivers |= drivers_of(finding.signal)
            self.called |= self._known.causes.called_by(finding)
            self.named |= self._known.causes.naming(finding)

    def _place(self, entity: str) -> None:
        if entity not in self.devices:
            self.devices.add(entity)
            self._above.update(entities.ancestors(entity)[:-1])
            self.ups.update(self._topology.parents(entity))

    @property
    def is_hardware(self) -> bool:
        """Say whether any finding is about a device."""
        return bool(self.shown)

    @property
    def is_raised(self) -> bool:
        """Say whether it sits at what its devices share, seen itself or not."""
        return self.incident.entity in self.ups or self.incident.entity not in self.devices

    def has_device(self, entity: str) -> bool:
        """Say whether `entity` is one of the devices or a part of one, or one is part of it.

        A node or a switch as a whole is no device.
        """
        root = entities.root(entity)
        if entity == root:
            return False
        if entity in self.devices or entity in self._above:
            return True
        return any(own != root and own in self.devices for own in entities.ancestors(entity))

    def is_telling(self, finding: Finding) -> bool:
        """Say whether a finding adds to a full incident: it is graver, or of a sign with few."""
        count, gravest = self._signs.get(sign_of(finding), (0, -1))
        has_room = (count + 1) * len(self._signs) <= MAX_EVIDENCE
        return has_room or SEVERITIES.index(finding.severity) > gravest

    def drives(self, finding: Finding) -> bool:
        """Say whether what something shared shows drives the finding, or the other way round."""
        if not self._shared.isdisjoint(drivers_of(finding.signal)):
            return True
        return entities.kind(finding.entity) in SHARED and finding.signal in self.drivers

    def common(self, finding: Finding) -> set[str]:
        """Return the entries that relate both: called for by one side, naming the other."""
        causes = self._known.causes
        return (self.called & causes.naming(finding)) | (self.named & causes.called_by(finding))


def _later(ended: int | None, closed: int | None) -> int | None:
    return None if ended is None or closed is None else max(ended, closed)
