"""What hangs on what in one cluster, worked out once for as long as the inventory stands still."""

from functools import cached_property

from forewarn import entity as entities
from forewarn.inventory import Inventory


class Topology:
    """A view of an inventory in one version; answers are kept."""

    def __init__(self, inventory: Inventory, cluster: str) -> None:
        self.inventory, self.version = inventory, inventory.version
        self._top = entities.path("cluster", cluster)
        self._parents: dict[str, tuple[str, ...]] = {}
        self._hangs: dict[str, tuple[str, ...]] = {}
        self._children: dict[tuple[str, str], int] = {}

    def parents(self, entity: str) -> tuple[str, ...]:
        """Return what `entity` hangs on: by name, then by what its attributes name."""
        if entity not in self._parents:
            self._parents[entity] = self.inventory.parents(entity)
        return self._parents[entity]

    def hangs_on(self, entity: str) -> tuple[str, ...]:
        """Return what a device hangs on, the jobs that it works for, and the cluster."""
        if entity not in self._hangs:
            jobs = (entities.path("job", own) for own in sorted(self.inventory.jobs_on(entity)))
            self._hangs[entity] = (*self.parents(entity), *jobs, self._top)
        return self._hangs[entity]

    def placed(self, rank: str) -> tuple[tuple[str, ...], str]:
        """Return the devices and the node of a rank; both empty where they are not known."""
        item = self.inventory.get(rank)
        if item is None or item.placement is None:
            return (), ""
        node = item.placement.node
        return item.placement.devices, node if "/" in node else entities.path("node", node)

    def children(self, parent: str, kind: str) -> int:
        """Return how many entities of a kind hang on `parent`, or work for it if it is a job."""
        key = parent, kind
        if key not in self._children:
            below = (own for own in self._below(parent) if entities.kind(own) == kind)
            self._children[key] = self.all(kind) if parent == self._top else len(set(below))
        return self._children[key]

    def _below(self, parent: str) -> frozenset[str]:
        if not parent.startswith("job/"):
            return self.inventory.below(parent)
        placed = self.inventory.ranks(entities.last_name(parent)).values()
        return frozenset(own for place in placed for own in place.devices)

    def all(self, kind: str) -> int:
        """Return how many entities of a kind there are."""
        return self._kinds.get(kind, 0)

    @cached_property
    def _kinds(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for item in self.inventory:
            kind = entities.kind(item.entity)
            found[kind] = found.get(kind, 0) + 1
        return found
