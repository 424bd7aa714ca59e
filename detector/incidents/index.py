"""Finds the few live incidents that a finding could belong to, without asking all of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from detector.incidents.crowd import Crowds
from detector.incidents.kinds import AWAY
from detector.incidents.lifecycle import LIVE
from detector.incidents.profile import Profile
from detector.incidents.seat import Knowledge, Seat
from forewarn import entity as entities
from forewarn.incident import Incident

Home = tuple[str, str]  # cluster and id of a finding


class Index:
    """The live incidents of one step by device, by what those hang on, by place, and by job.

    `homes` is where each finding that is shown stands. Entries of incidents that have moved on are
    left where they are: whoever asks looks at the incident itself.
    """

    def __init__(self, incidents: Iterable[Incident], known: Knowledge) -> None:
        self._known = known
        self._incidents: dict[str, Incident] = {}
        self._profiles: dict[str, Profile] = {}
        self._near: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._under: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._of_job: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._with_symptoms: set[str] = set()
        self.homes: dict[Home, str] = {}
        self.generations: dict[tuple[str, str], int] = {}
        self.crowds = Crowds(known)
        for incident in incidents:
            self.put(incident)

    def put(self, incident: Incident) -> None:
        """Take an incident in whatever revision; one that is over is no longer found."""
        key = incident.cluster, incident.key
        self.generations[key] = max(self.generations.get(key, 0), incident.generation)
        self.revise(incident)
        if incident.id in self._incidents:
            for finding in incident.evidence:
                self._enter(incident, self._known.seat(finding))

    def revise(self, incident: Incident) -> None:
        """Take a revision in which no finding came."""
        self._profiles.pop(incident.id, None)
        if incident.state not in LIVE:
            self._incidents.pop(incident.id, None)
            return
        self._incidents[incident.id] = incident
        self._near[incident.cluster, incident.entity].add(incident.id)

    def grow(self, incident: Incident, seat: Seat) -> None:
        """Take the next revision of an incident, which has one finding more."""
        profile = self.get(incident.id)
        self._incidents[incident.id] = incident
        if profile is not None:
            profile.grow(incident, seat)
        self._enter(incident, seat)

    def _enter(self, incident: Incident, seat: Seat) -> None:
        finding, id_ = seat.finding, incident.id
        self.homes[finding.cluster, finding.id] = id_
        self._of_job[finding.cluster, seat.job].add(id_)
        for job in seat.jobs:
            self._of_job[finding.cluster, job].add(id_)
        if seat.kind == "hardware":
            self._near[finding.cluster, finding.entity].add(id_)
            for up in self._known.topology(finding.cluster).parents(finding.entity):
                self._under[finding.cluster, up].add(id_)
            self.crowds.add(finding)
        elif seat.kind != "numeric":
            self._with_symptoms.add(id_)

    def get(self, id_: str) -> Profile | None:
        """Return what is asked of a live incident."""
        if id_ not in self._incidents:
            return None
        if id_ not in self._profiles:
            self._profiles[id_] = Profile(self._incidents[id_], self._known)
        return self._profiles[id_]

    def near(self, seat: Seat) -> Iterator[Profile]:
        """Yield the live incidents that a finding could join; the order means nothing."""
        cluster, entity = seat.finding.cluster, seat.finding.entity
        found = set(self._near[cluster, entity]) | self._under[cluster, entity]
        for up in self._known.topology(cluster).hangs_on(entity):
            found |= self._near[cluster, up]
        if seat.kind != "hardware":
            found |= self._of_job[cluster, seat.job]
        elif seat.finding.movement in AWAY:  # of everything on the node that fell silent
            found |= self._under[cluster, entities.root(entity)]
        yield from (own for id_ in found if (own := self.get(id_)) is not None)

    def below(self, cluster: str, entity: str) -> list[Profile]:
        """Return the live incidents with a device that hangs on `entity`, oldest first."""
        return self._live(self._under[cluster, entity])

    def at(self, cluster: str, entity: str) -> list[Profile]:
        """Return the live incidents that sit at `entity` or have a finding there."""
        return self._live(self._near[cluster, entity])

    def with_symptoms(self, incident: Incident) -> list[Profile]:
        """Return the live incidents of its jobs that hold symptoms of a job."""
        found: set[str] = set()
        for job in incident.jobs:
            found |= self._of_job[incident.cluster, job] & self._with_symptoms
        return self._live(found - {incident.id})

    def rooted(self, cluster: str, entity: str) -> list[Profile]:
        """Return the live incidents at the node (or job) that `entity` belongs to."""
        root = entities.root(entity)
        return self._live(self._near[cluster, root] | self._under[cluster, root])

    def _live(self, ids: set[str]) -> list[Profile]:
        found = [own for id_ in ids if (own := self.get(id_)) is not None]
        return sorted(
            found, key=lambda own: (own.incident.first_evidence_at_unix_nano, own.incident.id)
        )
