"""How two things of a cluster belong together: by name, by what they hang on, by their job."""

from collections.abc import Iterable
from functools import cached_property

from forewarn import entity as entities
from forewarn.inventory import Inventory
from forewarn.records import Finding
from runbooks.model import At
from runbooks.places import OWN_KINDS

# Kinds that serve the whole cluster where no finer relation is known.
_UPPER = frozenset({"rack", "switch", "switch_port", "cdu", "pdu"})  # what parts can hang on
SHARED = frozenset({"facility", "cdu", "pdu", "cluster", "storage_target"})


class Relations:
    """Answers for one incident; keeps what it worked out.

    `job` is the incident's job: it stands in for an entity of which no job is known.
    """

    def __init__(self, inventory: Inventory, findings: Iterable[Finding], job: str) -> None:
        self._inventory = inventory
        self._job = job
        self._told: dict[str, set[str]] = {}
        self._seen: set[str] = set()
        self._up: dict[str, tuple[str, ...]] = {}
        self._parts: dict[str, set[str]] = {}
        self._places: dict[tuple[str, At], frozenset[str]] = {}
        for finding in findings:
            self._seen.add(finding.entity)
            if finding.job:
                self._told.setdefault(finding.entity, set()).add(finding.job)

    def above(self, entity: str) -> tuple[str, ...]:
        """Return all that `entity` hangs on."""
        if entity not in self._up:
            self._up[entity] = self._inventory.parents(entity)
        return self._up[entity]

    def below(self, entity: str) -> set[str]:
        """Return what hangs on `entity`: what the inventory knows, and what has a finding."""
        return self._seen_below.get(entity, set()) | self._inventory.below(entity)

    @cached_property
    def _seen_below(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for own in self._seen:
            for up in self.above(own):
                found.setdefault(up, set()).add(own)
        return found

    def jobs(self, entity: str) -> frozenset[str]:
        """Return names of the jobs that `entity` works for; the incident's where none is known."""
        known = set(self._told.get(entity, ()))
        if own := self._inventory.job_of(entity):
            known.add(own)
        known |= self._inventory.jobs_on(entity)
        return frozenset(known) or frozenset({self._job} - {""})

    def places(self, entity: str, at: At) -> frozenset[str]:
        """Return where a predicate with the word `at` is seen for a cause at `entity`.

        First that applies: the entity itself, what it hangs on, its job's parts, its own parts,
        its neighbours on the same node.
        """
        key = (entity, at)
        if key not in self._places:
            self._places[key] = frozenset(self._find(entity, at))
        return self._places[key]

    def _find(self, entity: str, at: At) -> set[str]:
        kinds = OWN_KINDS[at]
        if entities.kind(entity) in kinds:
            return {entity}
        if above := {own for own in self.above(entity) if entities.kind(own) in kinds}:
            return above | self._shared(kinds)
        if at in {"job", "rank"}:
            return self._of_jobs(entity, at)
        own = self.parts(entity)
        found = {part for part in own if entities.kind(part) in kinds}
        if kinds & _UPPER:
            ups = {up for part in own for up in self.above(part)}
            found |= {up for up in ups if entities.kind(up) in kinds}
        return found | self._shared(kinds)

    def _of_jobs(self, entity: str, at: At) -> set[str]:
        jobs = {entities.path("job", job): job for job in self.jobs(entity)}
        if at == "job":
            return set(jobs)
        seen = {r for r in self._seen if entities.kind(r) == "rank" and entities.root(r) in jobs}
        if not entity.startswith("node/"):
            return seen | {r for job in jobs.values() for r in self._inventory.ranks(job)}
        on = self._inventory.ranks_on(entity)
        if not on and entities.kind(entity) not in OWN_KINDS["gpu"]:  # it serves its whole node
            on = self._inventory.ranks_on(entities.root(entity))
        return on | {rank for rank in seen if self._touches(rank, entity)}

    def _touches(self, rank: str, entity: str) -> bool:
        """Say whether the rank runs on `entity` (true where its placement is not known)."""
        devices = self.devices(rank)
        return not devices or any(
            entities.inside(d, entity) or entities.inside(entity, d) for d in devices
        )

    def devices(self, rank: str) -> tuple[str, ...]:
        """Return the devices of a rank, or its node where they are not known."""
        item = self._inventory.get(rank)
        if item is None or item.placement is None:
            return ()
        node = item.placement.node
        return item.placement.devices or (
            node if node.startswith("node/") else entities.path("node", node),
        )

    def members(self, place: str) -> set[str]:
        """Return all at which something gathered at `place` is read: it, and what is part of it."""
        if place.startswith("job/"):
            return {place} | self.below(place) | self.parts(place)
        return {place} | self.below(place)

    def parts(self, entity: str) -> set[str]:
        """Return the parts of an entity's node; of a job, of the nodes that it runs on."""
        if entity not in self._parts:
            self._parts[entity] = self._find_parts(entity)
        return self._parts[entity]

    def _find_parts(self, entity: str) -> set[str]:
        if entities.root(entity).startswith("job/"):
            ranks = [entity] if "/rank/" in entity else self.below(entity)
            devices = {device for rank in ranks for device in self.devices(rank)}
            if not devices:  # placement not known: what was joined to the job is its own
                return {own for own in self._seen if own.startswith("node/")}
            nodes = {entities.root(device) for device in devices}
            return devices | nodes | {p for node in nodes for p in self.below(node)}
        parts = self.below(entity)
        if entity.startswith("node/"):
            parts |= self.below(entities.root(entity))
        return parts

    def _shared(self, kinds: frozenset[str]) -> set[str]:
        wanted = kinds & SHARED
        if not wanted:
            return set()
        return {own for own in self._seen if entities.kind(own) in wanted}

    def meet(self, entity: str, at: At, other: str) -> bool:
        """Say whether what is seen on `other` counts at the place `at` of a cause at `entity`."""
        if at == "fleet":
            return True
        places = self.places(entity, at)
        if other in places or not places.isdisjoint(self.above(other)):
            return True
        if at != "job":
            return False
        return any(entities.path("job", job) in places for job in self.jobs(other))
