"""Which nodes a fault reaches: those at its entity, and all nodes of the jobs that run on them."""

import numpy as np

from simulator.fleet import Indices, Machines
from simulator.scenario import Job


class Claims:
    """Reach of entities in one fleet with its jobs; used to draw faults that do not meet."""

    def __init__(self, machines: Machines, jobs: tuple[Job, ...]) -> None:
        self._machines = machines
        self._jobs = [frozenset(machines.node(name) for name in job.nodes) for job in jobs]

    def nodes(self, kind: str, index: int) -> frozenset[int]:
        """Return the nodes that a fault at an entity reaches, by its kind and index."""
        at = self.at(kind, index)
        touched = [own for own in self._jobs if own & at]
        return at.union(*touched)

    def at(self, kind: str, index: int) -> frozenset[int]:
        """Return the nodes at an entity, without those that a job there runs on as well."""
        return frozenset(map(int, self._at(kind, index)))

    def _at(self, kind: str, index: int) -> Indices | frozenset[int]:
        machines = self._machines
        if kind == "job":
            return self._jobs[index]
        if kind in {"gpu", "nic_port", "rank"}:
            return np.array([index // machines.width])
        if kind in {"node", "mount"}:
            return np.array([index])
        group_of = {
            "rack": np.arange(len(machines.racks)),
            "switch": np.arange(len(machines.racks)),
            "cdu": machines.loop_of,
            "facility": machines.room_of,
            "storage_target": machines.storage_of,
            "pdu": machines.feed_of,
        }[kind]
        return np.flatnonzero(group_of[machines.rack_of] == index)
