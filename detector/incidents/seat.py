"""Where a finding belongs before any incident is asked: what it is about, and whose job it is."""

from collections.abc import Callable

import msgspec

from detector.incidents.causes import Causes
from detector.incidents.kinds import Kind, is_load, kind_of, layer_of
from detector.incidents.topology import Topology
from forewarn import entity as entities
from forewarn.incident import Incident
from forewarn.inventory import Inventory
from forewarn.records import Finding


class Seat(msgspec.Struct, frozen=True):
    """A finding with what it is about, its job (if there is one), and all jobs it touches."""

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


class Knowledge:
    """What joining rests on: the runbook's causes, and what is where in each cluster.

    A finding keeps the seat it was first given, also when its job has left the node since.
    """

    def __init__(self, causes: Causes, inventory: Callable[[str], Inventory]) -> None:
        self.causes, self.inventory = causes, inventory
        self._seats: dict[tuple[str, str], Seat] = {}
        self._topologies: dict[str, Topology] = {}

    def topology(self, cluster: str) -> Topology:
        """Return what hangs on what in a cluster, as its inventory stands."""
        inventory, held = self.inventory(cluster), self._topologies.get(cluster)
        if held is None or held.version != inventory.version:
            held = self._topologies[cluster] = Topology(inventory, cluster)
        return held

    def seat(self, finding: Finding) -> Seat:
        """Return the seat of a finding, in its latest revision."""
        key = (finding.cluster, finding.id)
        held = self._seats.get(key)
        if held is None:
            held = self._seats[key] = self._find(finding)
        elif held.finding is not finding:
            held = self._seats[key] = msgspec.structs.replace(held, finding=finding)
        return held

    def forget(self, incident: Incident) -> None:
        """Drop the seats of an incident that is over."""
        for finding in incident.evidence:
            self._seats.pop((finding.cluster, finding.id), None)

    def kind(self, incident: Incident) -> Kind:
        """Return what an incident is about: what the finding that opened it was."""
        return self.seat(incident.evidence[0]).kind

    def hardware(self, incident: Incident) -> list[Finding]:
        """Return the findings of an incident that are about devices."""
        return [own for own in incident.evidence if self.seat(own).kind == "hardware"]

    def _find(self, finding: Finding) -> Seat:
        inventory = self.inventory(finding.cluster)
        job = finding.job or inventory.job_of(finding.entity)
        jobs = {job} - {""} or _jobs_at(finding.entity, inventory)
        if len(jobs) == 1 and is_load(finding):
            job = next(iter(jobs))  # how busy a whole node is follows the one job on it
        return Seat(finding, kind_of(finding, job), job, tuple(sorted(jobs)))


def _jobs_at(entity: str, inventory: Inventory) -> set[str]:
    """Return the jobs on an entity or its node, or on all that hangs on it (a rack, a loop)."""
    if entity.startswith("node/"):
        return inventory.jobs_on(entity) or inventory.jobs_on(entities.root(entity))
    below = {entities.root(own) for own in inventory.below(entity) if own.startswith("node/")}
    return {job for node in below for job in inventory.jobs_on(node)}
