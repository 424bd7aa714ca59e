"""The open incidents of one step: findings are put into them, then they are settled and told.

A `Casebook` is a draft: it starts from the incidents as they were, collects changes, and is
written (and taken over by decide) as a whole or not at all.
"""

from collections.abc import Iterable

import msgspec

from detector.incidents.assess import gravest
from detector.incidents.identity import id_of, key_of
from detector.incidents.join import choose
from detector.incidents.lifecycle import note
from detector.incidents.seat import Knowledge, Seat
from detector.incidents.store import Store
from forewarn.incident import Incident, TimelineItem
from forewarn.language import Text
from forewarn.records import Finding


class Casebook:
    """Changes to the incidents of one step; `now` is the stream's clock, ns."""

    def __init__(
        self, incidents: Iterable[Incident], store: Store, known: Knowledge, now: int
    ) -> None:
        self.before = {incident.id: incident for incident in incidents}
        self.after = dict(self.before)
        self.now = now
        self.joined = 0
        self._store, self._known = store, known

    def changed(self) -> list[Incident]:
        """Return incidents that differ from before, in the order of their first evidence."""
        found = (own for own in self.after.values() if own is not self.before.get(own.id))
        return sorted(found, key=lambda own: (own.first_evidence_at_unix_nano, own.id))

    def put(self, incident: Incident) -> None:
        """Take a new revision of an incident."""
        self.after[incident.id] = incident

    def take(self, finding: Finding) -> None:
        """Use a finding: an update of a known one, one more of an open incident, or a new one's.

        A finding that was used in this or a later revision is ignored: the bus delivers at least
        once.
        """
        used = self._drafted(finding) or self._store.joined(finding.cluster, finding.id)
        if used is None:
            self._join(self._known.seat(finding))
        elif used[0] < finding.seq:
            self._update(used[1], finding)

    def _drafted(self, finding: Finding) -> tuple[int, str] | None:
        """Find a finding among what this step has changed and the store does not know yet."""
        for incident in self.changed():
            for own in incident.evidence:
                if own.id == finding.id and incident.cluster == finding.cluster:
                    return own.seq, incident.id
        return None

    def _update(self, into: str, finding: Finding) -> None:
        """Keep the latest revision; an incident that is over is not opened by it."""
        incident = self.after.get(into)
        if incident is None:
            return
        evidence = tuple(finding if own.id == finding.id else own for own in incident.evidence)
        self.put(
            msgspec.structs.replace(incident, evidence=evidence, updated_at_unix_nano=self.now)
        )

    def _join(self, seat: Seat) -> None:
        self.joined += 1
        found = choose(seat, self.after.values(), self._known)
        self.put(self.open(seat) if found is None else self._add(found, seat))

    def _add(self, incident: Incident, seat: Seat) -> Incident:
        earlier = (_superseded(own, seat.finding) for own in incident.evidence)
        evidence = (*earlier, seat.finding)
        grown = msgspec.structs.replace(
            incident,
            evidence=evidence,
            severity=gravest(evidence),
            affected=union(incident.affected, (seat.finding.entity,)),
            jobs=union(incident.jobs, seat.jobs),
        )
        return note(grown, self.now, "evidence", describe(seat.finding))

    def open(self, seat: Seat) -> Incident:
        """Make a new incident for a finding, of the next generation of its key."""
        finding, key = seat.finding, key_of(seat.entity, seat.trouble)
        generation = self._generation(finding.cluster, key) + 1
        begin = finding.opened_at_unix_nano
        return Incident(
            id=id_of(finding.cluster, key, generation, begin),
            key=key,
            generation=generation,
            seq=1,
            cluster=finding.cluster,
            state="open",
            severity=finding.severity,
            title=Text(),
            entity=seat.entity,
            affected=(finding.entity,),
            jobs=seat.jobs,
            first_evidence_at_unix_nano=begin,
            detected_at_unix_nano=self.now,
            updated_at_unix_nano=self.now,
            evidence=(finding,),
            timeline=(TimelineItem(self.now, _opened(generation), describe(finding)),),
        )

    def _generation(self, cluster: str, key: str) -> int:
        drafted = (
            own.generation
            for own in self.after.values()
            if own.cluster == cluster and own.key == key
        )
        return max(self._store.generation(cluster, key), *drafted, 0)


def _opened(generation: int) -> str:
    return "opened" if generation == 1 else "reopened"


def _superseded(own: Finding, by: Finding) -> Finding:
    """Close a finding that its detector has begun anew: after a restart it knows no older ones."""
    same = (own.entity, own.signal, own.family, own.movement, own.code)
    if own.closed_at_unix_nano is not None or same != (
        by.entity, by.signal, by.family, by.movement, by.code
    ):  # fmt: skip
        return own
    return msgspec.structs.replace(own, closed_at_unix_nano=by.opened_at_unix_nano)


def union(old: tuple[str, ...], new: Iterable[str]) -> tuple[str, ...]:
    """Return both in order, each once."""
    return tuple(dict.fromkeys((*old, *new)))


def describe(finding: Finding) -> str:
    """Return a finding in one line for the timeline."""
    value = "" if finding.observed is None else f" {finding.observed:g} {finding.unit}".rstrip()
    what = finding.code or f"{finding.signal} {finding.movement}"
    return f"{what}{value} at {finding.entity}"
