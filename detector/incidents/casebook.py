"""The open incidents of one step: findings are put into them, then they are settled and told.

A `Casebook` is a draft: it starts from the incidents as they were, collects changes, and is
written (and taken over by decide) as a whole or not at all.
"""

from collections.abc import Iterable
from functools import cached_property

import msgspec

from detector.incidents.budget import Draft
from detector.incidents.evidence import MAX_EVIDENCE, hold, is_open, superseded
from detector.incidents.identity import id_of, key_of
from detector.incidents.index import Home, Index
from detector.incidents.join import choose
from detector.incidents.lifecycle import note
from detector.incidents.places import Place
from detector.incidents.seat import Knowledge, Seat
from detector.incidents.store import Store
from detector.incidents.waiting import Waiting
from forewarn.incident import Incident, TimelineItem
from forewarn.language import Text
from forewarn.records import Finding


class Casebook:
    """Changes to the incidents of one step; `now` is the stream's clock, ns.

    `places` is where the findings stand that are counted but not shown; `ranked` are the incidents
    whose causes were ranked.
    """

    def __init__(
        self,
        incidents: Iterable[Incident],
        store: Store,
        known: Knowledge,
        now: int,
        waiting: Waiting,
        spent: Draft,
    ) -> None:
        self.before = {incident.id: incident for incident in incidents}
        self.after = dict(self.before)
        self.now, self.waiting, self.spent = now, waiting, spent
        self.joined = 0
        self.places: dict[Home, Place] = {}
        self.ranked: set[str] = set()
        self._store, self._known = store, known

    @cached_property
    def index(self) -> Index:
        """Return what finds incidents; made when the first finding asks."""
        return Index(self.after.values(), self._known)

    def changed(self) -> list[Incident]:
        """Return incidents that differ from before, in the order of their first evidence."""
        found = (own for own in self.after.values() if own is not self.before.get(own.id))
        return sorted(found, key=lambda own: (own.first_evidence_at_unix_nano, own.id))

    def put(self, incident: Incident) -> None:
        """Take a new revision of an incident."""
        self.index.put(incident)  # made, where it is not yet, of what was there before
        self.after[incident.id] = incident

    def revise(self, incident: Incident) -> None:
        """Take a revision of an incident in which no finding came or went."""
        self.index.revise(incident)
        self.after[incident.id] = incident

    def take(self, finding: Finding) -> bool:
        """Use a finding: an update of a known one, one more of an open incident, or a new one's.

        Return whether an incident holds one finding more. A finding that was used in this or a
        later revision is ignored: the bus delivers at least once. One that opens nothing by
        itself waits for an incident that it belongs to.
        """
        used = self._used(finding)
        if used is None:
            return self._join(self._known.seat(finding))
        if used.seq < finding.seq:
            self._update(used, finding)
        return False

    def _used(self, finding: Finding) -> Place | None:
        """Return where a finding stands, and how far it was used."""
        home = finding.cluster, finding.id
        if home in self.places:
            return self.places[home]
        incident = self.after.get(self.index.homes.get(home, ""))
        for own in incident.evidence if incident is not None else ():
            if own.id == finding.id:
                return _place(own, self.index.homes[home])
        return self._store.places.get(*home)

    def _update(self, used: Place, finding: Finding) -> None:
        """Keep the latest revision; an incident that is over is not opened by it."""
        incident = self.after.get(self.home(used.incident))
        if incident is None:
            return
        at = next((n for n, own in enumerate(incident.evidence) if own.id == finding.id), None)
        if at is None:
            self._recount(incident, used, finding)
            return
        self._known.seat(finding)  # in its latest revision
        changes: dict[str, object] = {
            "evidence": (*incident.evidence[:at], finding, *incident.evidence[at + 1 :])
        }
        if finding.id in incident.not_collected:  # it speaks again
            changes["not_collected"] = tuple(
                own for own in incident.not_collected if own != finding.id
            )
        self.revise(msgspec.structs.replace(incident, updated_at_unix_nano=self.now, **changes))

    def _recount(self, incident: Incident, used: Place, finding: Finding) -> None:
        """Follow a finding that is counted but not shown."""
        self.places[finding.cluster, finding.id] = _place(finding, incident.id)
        change = is_open(finding) - used.is_open
        if change:
            count = max(0, incident.evidence_left_out_open + change)
            self.revise(msgspec.structs.replace(incident, evidence_left_out_open=count))

    def home(self, id_: str) -> str:
        """Return what an incident has become, if it was merged into others."""
        while (own := self.after.get(id_)) is not None and own.merged_into:
            id_ = own.merged_into
        return id_

    def _join(self, seat: Seat) -> bool:
        found = choose(seat, self.index, self._known)
        if found is None and not self._may_open(seat):
            return False
        self.joined += 1
        if found is not None:
            self._add(found, seat)
            return True
        opened = self.open(seat)
        self.put(opened)
        self.spent.opened(seat, opened.id, self.now)
        for own in self.waiting.belonging(seat):
            if self._used(own) is None:
                self._add(self.after[opened.id], self._known.seat(own))
        return True

    def _may_open(self, seat: Seat) -> bool:
        """Say whether a finding may open an incident: it does not wait, and is worth its price."""
        return not self.waiting.take(seat.finding, self.now) and self.spent.admits(seat, self.now)

    def _add(self, incident: Incident, seat: Seat) -> None:
        """Add a finding: it is shown, or counted where enough say the same."""
        finding = seat.finding
        changes: dict[str, object] = {
            "jobs": union(incident.jobs, seat.jobs),
            "updated_at_unix_nano": self.now,
        }
        if finding.entity not in incident.affected:
            changes["affected"] = (*incident.affected, finding.entity)
        grown = msgspec.structs.replace(incident, **changes)
        profile = self.index.get(incident.id)
        is_full = len(incident.evidence) >= MAX_EVIDENCE
        if is_full and profile is not None and not profile.is_telling(finding):
            self._count(grown, seat)
            return
        earlier = superseded(incident.evidence, finding)
        grown, left = hold(grown, (*earlier, finding))
        grown = note(grown, self.now, "evidence", describe(finding))
        if earlier is incident.evidence and not left:
            self.index.grow(grown, seat)
            self.after[grown.id] = grown
        else:
            self.put(grown)
        self.set_aside(incident.id, left)

    def _count(self, incident: Incident, seat: Seat) -> None:
        counted = msgspec.structs.replace(
            incident,
            evidence_left_out=incident.evidence_left_out + 1,
            evidence_left_out_open=incident.evidence_left_out_open + is_open(seat.finding),
        )
        self.after[incident.id] = counted
        self.index.grow(counted, seat)
        self.set_aside(incident.id, (seat.finding,))

    def set_aside(self, id_: str, findings: Iterable[Finding]) -> None:
        """Note where findings stand that their incident counts but does not show."""
        for own in findings:
            self.places[own.cluster, own.id] = _place(own, id_)

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
        drafted = self.index.generations.get((cluster, key), 0)
        return max(self._store.generation(cluster, key), drafted)


def _opened(generation: int) -> str:
    return "opened" if generation == 1 else "reopened"


def _place(finding: Finding, id_: str) -> Place:
    return Place(finding.seq, id_, is_open(finding), finding.updated_at_unix_nano)


def union(old: tuple[str, ...], new: Iterable[str]) -> tuple[str, ...]:
    """Return both in order, each once."""
    return tuple(dict.fromkeys((*old, *new)))


def describe(finding: Finding) -> str:
    """Return a finding in one line for the timeline."""
    value = "" if finding.observed is None else f" {finding.observed:g} {finding.unit}".rstrip()
    what = finding.code or f"{finding.signal} {finding.movement}"
    return f"{what}{value} at {finding.entity}"
