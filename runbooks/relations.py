"""How two things of a cluster belong together: by name, by what they hang on, by their job."""

from collections.abc import Iterable

from forewarn import entity as entities
from forewarn.inventory import Inventory
from forewarn.records import Finding
from runbooks.model import At
from runbooks.places import OWN_KINDS

# Kinds that serve the whole cluster where no finer relation is known.
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
        seen = {own for own in self._seen if entity in self.above(own)}
        return self._inventory.below(entity) | seen

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
        own = self._parts(entity)
        found = {part for part in own if entities.kind(part) in kinds}
        found |= {up for part in own for up in self.above(part) if entities.kind(up) in kinds}
        return found | self._shared(kinds)

    def _of_jobs(self, entity: str, at: At) -> set[str]:
        jobs = {entities.path("job", job): job for job in self.jobs(entity)}
        if at == "job":
            return set(jobs)
        ranks = {r for job in jobs.values() for r in self._inventory.ranks(job)}
        ranks |= {r for r in self._seen if entities.kind(r) == "rank" and entities.root(r) in jobs}
        return {rank for rank in ranks if self._touches(rank, entity)}

    def _touches(self, rank: str, entity: str) -> bool:
        """Say whether the rank runs on `entity` (true where its placement is not known)."""
        devices = self.devices(rank)
        if not devices or not entity.startswith("node/"):
            return True
        return any(entities.inside(d, entity) or entities.inside(entity, d) for d in devices)

    def devices(self, rank: str) -> tuple[str, ...]:
        """Return the devices of a rank, or its node where they are not known."""
        item = self._inventory.get(rank)
        if item is None or item.placement is None:
            return ()
        node = item.placement.node
        return item.placement.devices or (
            node if node.startswith("node/") else entities.path("node", node),
        )

    def _parts(self, entity: str) -> set[str]:
        """Return the parts of an entity; of a job, of the nodes that it runs on."""
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
