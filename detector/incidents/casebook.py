"""The open incidents of one step: findings are put into them, then they are settled and told.

A `Casebook` is a draft: it starts from the incidents as they were, collects changes, and is
written (and taken over by decide) as a whole or not at all.
"""

from collections.abc import Callable, Iterable

import msgspec

from detector.incidents.assess import gravest
from detector.incidents.causes import Causes
from detector.incidents.identity import id_of, key_of
from detector.incidents.join import Seat, choose, seat_of
from detector.incidents.lifecycle import note
from detector.incidents.store import Store
from forewarn.incident import Incident, TimelineItem
from forewarn.inventory import Inventory
from forewarn.language import Text
from forewarn.records import Finding


class Casebook:
    """Changes to the incidents of one step; `now` is the stream's clock, ns."""

    def __init__(
        self,
        incidents: Iterable[Incident],
        store: Store,
        causes: Causes,
        inventory: Callable[[str], Inventory],
        now: int,
    ) -> None:
        self.before = {incident.id: incident for incident in incidents}
        self.after = dict(self.before)
        self.now = now
        self.joined = 0
        self._store, self._causes, self._inventory = store, causes, inventory

    def changed(self) -> list[Incident]:
        """Return incidents that differ from before, in the order of their first evidence."""
        found = (own for own in self.after.values() if own is not self.before.get(own.id))
        return sorted(found, key=lambda own: (own.first_evidence_at_unix_nano, own.id))

    def put(self, incident: Incident) -> None:
        """Take a new revision of an incident."""
        self.after[incident.id] = incident

    def take(self, finding: Finding) -> None:
        """Join a finding: an update of a known one, a new one for an open incident, or a new one.

        A finding that was used in this or a later revision is ignored: the bus delivers at least
        once.
        """
        used = self._used(finding)
        if used is None:
            self._join(seat_of(finding, self._inventory(finding.cluster)))
        elif used[0] < finding.seq:
            self._update(used[1], finding)

    def _used(self, finding: Finding) -> tuple[int, str] | None:
        for incident in self.after.values():
            for own in incident.evidence:
                if own.id == finding.id and incident.cluster == finding.cluster:
                    return own.seq, self._end(incident)
        return self._store.joined(finding.cluster, finding.id)

    def _end(self, incident: Incident) -> str:
        """Follow merges to the incident that goes on."""
        while incident.merged_into and incident.merged_into in self.after:
            incident = self.after[incident.merged_into]
        return incident.id

    def _update(self, into: str, finding: Finding) -> None:
        incident = self.after.get(into) or self._store.get(into)
        if incident is None or incident.state in {"closed", "merged"}:
            return
        evidence = tuple(finding if own.id == finding.id else own for own in incident.evidence)
        self.put(
            msgspec.structs.replace(incident, evidence=evidence, updated_at_unix_nano=self.now)
        )

    def _join(self, seat: Seat) -> None:
        self.joined += 1
        inventory = self._inventory(seat.finding.cluster)
        found = choose(seat, self.after.values(), self._causes, inventory)
        self.put(self.open(seat) if found is None else self._add(found, seat))

    def _add(self, incident: Incident, seat: Seat) -> Incident:
        evidence = (*incident.evidence, seat.finding)
        grown = msgspec.structs.replace(
            incident,
            evidence=evidence,
            severity=gravest(evidence),
            affected=_union(incident.affected, (seat.finding.entity,)),
            jobs=_union(incident.jobs, seat.jobs),
        )
        return note(grown, self.now, "evidence", describe(seat.finding))

    def open(self, seat: Seat) -> Incident:
        """Make a new incident for a finding, of the next generation of its key."""
        finding, key = seat.finding, key_of(seat.entity, seat.trouble)
        generation = self._generation(finding.cluster, key) + 1
        begin = finding.opened_at_unix_nano
        line = TimelineItem(self.now, "opened", describe(finding))
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
            timeline=(line,),
        )

    def _generation(self, cluster: str, key: str) -> int:
        drafted = (
            own.generation
            for own in self.after.values()
            if own.cluster == cluster and own.key == key
        )
        return max(self._store.generation(cluster, key), *drafted, 0)


def _union(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return (*old, *(own for own in new if own not in old))


def describe(finding: Finding) -> str:
    """Return a finding in one line for the timeline."""
    value = "" if finding.observed is None else f" {finding.observed:g} {finding.unit}".rstrip()
    what = finding.code or f"{finding.signal} {finding.movement}"
    return f"{what}{value} at {finding.entity}"
