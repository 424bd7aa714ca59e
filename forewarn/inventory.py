"""What is where: the view that detect and decide keep of all inventory items they have seen."""

from collections import defaultdict
from collections.abc import Iterator

from forewarn import entity as entities
from forewarn.records import InventoryItem, Placement

# Keys of `attributes` that name a parent outside the entity's own path, and that parent's kind.
PARENT_KEYS = {
    "rack": "rack", "switch": "switch", "loop": "cdu", "feed": "pdu", "room": "facility",
    "storage": "storage_target",
}  # fmt: skip
# The key whose value is an entity itself: what a NIC's port is plugged into.
PLUG_KEY = "switch_port"


class Inventory:
    """The latest item of every entity, with the relations read from it.

    Not thread safe; one owner applies items in the order of the topic. An item older than the one
    held is ignored, so that a replay of the compacted topic gives the same view.
    """

    def __init__(self) -> None:
        self._items: dict[str, InventoryItem] = {}
        self._ranks: dict[str, dict[str, Placement]] = defaultdict(dict)
        self._jobs_of: dict[str, dict[str, Placement]] = defaultdict(dict)
        self._inside: dict[str, set[str]] = defaultdict(set)
        self._hung: dict[str, set[str]] = defaultdict(set)
        self._parents: dict[str, tuple[str, ...]] = {}  # answers, until the next change
        self._below: dict[str, frozenset[str]] = {}
        self._read: dict[tuple[frozenset[str], frozenset[str]], frozenset[str]] = {}
        self._touched: dict[str, int] = {}  # root -> version of its latest change
        self.version = 0
        """Counts the items that changed the view: what was worked out from it holds as long."""

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[InventoryItem]:
        return iter(self._items.values())

    def get(self, entity: str) -> InventoryItem | None:
        """Return the latest item of `entity`."""
        return self._items.get(entity)

    def apply(self, item: InventoryItem) -> bool:
        """Take an item; return whether it changed the view."""
        held = self._items.get(item.entity)
        if held is not None and held.time_unix_nano > item.time_unix_nano:
            return False
        self._unplace(held)
        if item.removed:
            changed = self._items.pop(item.entity, None) is not None
        else:
            self._items[item.entity] = item
            self._place(item)
            self._hang(item)
            changed = held is None or _content(held) != _content(item)
        if changed:
            self.version += 1
            self._parents.clear()
            self._below.clear()
            self._read.clear()
            self._touch(item, held)
        return changed

    def _touch(self, *items: InventoryItem | None) -> None:
        for item in items:
            if item is not None:
                self._touched[entities.root(item.entity)] = self.version
                for place in _places(item.placement) if item.placement else ():
                    self._touched[entities.root(place)] = self.version

    def touched(self, root: str) -> int:
        """Return the version of the latest change at a root (node, job, rack …) or below it."""
        return self._touched.get(root, 0)

    def _place(self, item: InventoryItem) -> None:
        if item.placement is None:
            return
        self._ranks[item.placement.job][item.entity] = item.placement
        for place in _places(item.placement):
            self._jobs_of[place][item.entity] = item.placement

    def _unplace(self, item: InventoryItem | None) -> None:
        if item is None or item.placement is None:
            return
        self._ranks[item.placement.job].pop(item.entity, None)
        for place in _places(item.placement):
            self._jobs_of[place].pop(item.entity, None)

    def _hang(self, item: InventoryItem) -> None:
        for above in entities.ancestors(item.entity):
            self._inside[above].add(item.entity)
        for above in _hangs_on(item):
            self._hung[above].add(item.entity)

    def below(self, entity: str) -> frozenset[str]:
        """Return the known entities that hang on `entity`: a node's parts, a rack's nodes …"""
        if entity not in self._below:
            self._below[entity] = frozenset(self._find_below(entity))
        return self._below[entity]

    def _find_below(self, entity: str) -> set[str]:
        if entity not in self._inside and entity not in self._hung:
            return set()
        found: set[str] = set()
        waiting = [entity]
        while waiting:
            above = waiting.pop()
            found |= self._inside.get(above, set())
            hung = self._hung.get(above, set()) - found
            fresh = [own for own in hung if own in self._items]
            fresh = [own for own in fresh if above in _hangs_on(self._items[own])]
            found.update(fresh)
            waiting += fresh
        return found & self._items.keys()

    def attribute(self, entity: str, key: str) -> str | None:
        """Return an attribute of `entity`, else of the nearest entity above it by name."""
        for own in (entity, *entities.ancestors(entity)):
            item = self._items.get(own)
            if item is not None and key in item.attributes:
                return item.attributes[key]
        return None

    def parents(self, entity: str) -> tuple[str, ...]:
        """Return all that `entity` hangs on: above it by name, then by the keys of attributes."""
        if entity not in self._parents:
            self._parents[entity] = self._find_parents(entity)
        return self._parents[entity]

    def _find_parents(self, entity: str) -> tuple[str, ...]:
        above = entities.ancestors(entity)
        nearest: dict[str, str] = {}
        for own in (entity, *above):
            item = self._items.get(own)
            for key, value in item.attributes.items() if item else ():
                nearest.setdefault(key, value)
        return (*above, *(own for own in _named(nearest) if own not in {entity, *above}))

    def collects(self, entity: str, signal: str) -> bool:
        """Say whether some source reads `signal` for `entity` (and the device can give it)."""
        item = self._items.get(entity)
        if item is None or signal in item.unsupported:
            return False
        return any(signal in names for names in item.collects.values())

    def collectors(self, signal: str, within: str) -> list[str]:
        """Return the entities at or below `within` (by name) for which `signal` is read."""
        return [
            entity
            for entity in self._items
            if entities.inside(entity, within) and self.collects(entity, signal)
        ]

    def read_at(self, members: frozenset[str], silent: frozenset[str]) -> frozenset[str]:
        """Return all signals that are read at any of `members` whose root is not `silent`."""
        if (members, silent) not in self._read:
            lists: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()  # thousands are the same
            for own in members:
                item = self._items.get(own)
                if item is not None and entities.root(own) not in silent:
                    lists.update((names, item.unsupported) for names in item.collects.values())
            self._read[members, silent] = frozenset(
                name for names, unsupported in lists for name in names if name not in unsupported
            )
        return self._read[members, silent]

    def ranks(self, job: str) -> dict[str, Placement]:
        """Return the ranks of a job (its name, not the entity): rank entity -> placement."""
        return dict(self._ranks.get(job, {}))

    def ranks_on(self, entity: str) -> set[str]:
        """Return the ranks that are placed on `entity` itself: a node or a device."""
        return set(self._jobs_of.get(entity, ()))

    def jobs_on(self, entity: str) -> set[str]:
        """Return names of jobs that run on `entity`, a device or node (or a part of a device)."""
        found = {p.job for p in self._jobs_of.get(entity, {}).values()}
        for above in entities.ancestors(entity):
            if entities.kind(above) != "node":
                found |= {p.job for p in self._jobs_of.get(above, {}).values()}
        return found

    def job_of(self, entity: str) -> str:
        """Return the one job that `entity` belongs to: by name, by device, else by its node.

        A part of a node that no rank names as its device (a NIC port, a disk) serves the jobs of
        the node. Empty where there is none or more than one.
        """
        if entity.startswith("job/"):
            return entities.plain(entity.split("/")[1])
        jobs = self.jobs_on(entity)
        if not jobs and entities.kind(entity) != "gpu" and entity.startswith("node/"):
            jobs = self.jobs_on(entities.root(entity))
        return next(iter(jobs)) if len(jobs) == 1 else ""


def _places(placement: Placement) -> tuple[str, ...]:
    node = placement.node
    return (node if node.startswith("node/") else entities.path("node", node), *placement.devices)


def _hangs_on(item: InventoryItem) -> list[str]:
    """Return what the item's own attributes name as its parents."""
    return [own for own in _named(item.attributes) if own != item.entity]


def _named(attributes: dict[str, str]) -> list[str]:
    """Return the parents that attributes name, each once."""
    plug = attributes.get(PLUG_KEY, "")
    plugs = (plug, entities.root(plug)) if plug.startswith("switch/") else ()
    by_key = (entities.path(k, attributes[a]) for a, k in PARENT_KEYS.items() if attributes.get(a))
    return list(dict.fromkeys((*plugs, *by_key)))


def _content(item: InventoryItem) -> tuple[object, ...]:
    return (item.attributes, item.collects, item.unsupported, item.placement)
