"""Who belongs together: what a job runs on, and which series move with it."""

import numpy as np

from detector.series import BLOCK, CLASS, Ints, Series
from forewarn import entity as entities
from forewarn.inventory import Inventory


class Groups:
    """Series by job, from placements; recomputed when series or inventory change."""

    def __init__(self, series: Series, inventory: Inventory) -> None:
        self._series, self._inventory = series, inventory
        self._slots: dict[str, Ints] = {}
        self._peers: dict[tuple[str, str], Ints] = {}
        self._version: tuple[int, int] = (-1, -1)
        self.changes = 0  # all that `changed` was told of
        self._before = (0, 0)  # changes of earlier seconds, and the second of the latest

    def changed(self, second: int) -> None:
        """Take note of one change of the inventory, of a second of event time."""
        if second > self._before[1]:
            self._before = (self.changes, second)
        self.changes += 1

    def changes_before(self, second: int) -> int:
        """Return how many changes are of earlier seconds: those have all come, in any order."""
        count, latest = self._before
        return count if latest >= second else self.changes

    def slots(self, job: str) -> Ints:
        """Return the slots of all series on the devices and nodes of a job (its name)."""
        version = (self._series.version, self.changes)
        if version != self._version:
            self._slots, self._peers, self._version = {}, {}, version
        if job not in self._slots:
            found = [s for own in self.entities(job) for s in self._series.slots(own)]
            self._slots[job] = np.array(sorted(found), np.int64)
        return self._slots[job]

    def entities(self, job: str) -> set[str]:
        """Return the entities a job's work shows on: its devices, and parts of its nodes.

        A GPU of the node that no rank names belongs to somebody else.
        """
        devices: set[str] = set()
        nodes: set[str] = set()
        for placement in self._inventory.ranks(job).values():
            devices.update(placement.devices)
            node = placement.node
            nodes.add(node if node.startswith("node/") else entities.path("node", node))
        known = {own for node in nodes for own in self._series.entities(node)}
        return {own for own in known if "/gpu/" not in own or _named(own, devices)}

    def peers(self, name: str, job: str) -> Ints:
        """Return the slots of one signal on everything a job runs on."""
        slots = self.slots(job)
        if (name, job) not in self._peers:
            own = [
                s for s in slots if self._series.at(int(s))[0].klass[int(s) % BLOCK] == CLASS[name]
            ]
            self._peers[name, job] = np.array(own, np.int64)
        return self._peers[name, job]


def _named(entity: str, devices: set[str]) -> bool:
    return not devices or any(entities.inside(entity, device) for device in devices)
