"""Nodes that fail as a whole: they fall silent, and boot anew when what broke them is over."""

import numpy as np

from forewarn.records import Event, InventoryItem
from simulator.boots import Boots
from simulator.fleet import Bools, Machines
from simulator.knobs import Knobs
from simulator.nodes import Nodes
from simulator.signals import SCHEDULER

# Slurm asks its nodes every few minutes and waits for an answer (SlurmdTimeout, default 300 s); a
# site that runs large jobs sets a minute.
NOTICED_SECONDS = 60.0
DOWN = "slurm.node_state:down"


class Outages:
    """Compares the knobs with what is up, beat by beat."""

    def __init__(self, machines: Machines, cluster: str, nodes: Nodes, boots: Boots) -> None:
        self._machines, self._cluster, self._nodes, self._boots = machines, cluster, nodes, boots
        self._down: Bools = np.zeros(len(machines.nodes), dtype=bool)
        self._since = np.full(len(machines.nodes), np.inf)

    def advance(self, second: int, knobs: Knobs) -> tuple[list[Event], list[InventoryItem]]:
        """Let nodes fall and boot; return what the scheduler says of them, and their inventory."""
        now = knobs.down > 0
        inventory: list[InventoryItem] = []
        for node in map(int, np.flatnonzero(now & ~self._down)):
            self._nodes.go_down(node)
            self._since[node] = second
        for node in map(int, np.flatnonzero(self._down & ~now)):
            inventory += self._boots.boot(node, second)
            self._since[node] = np.inf
        self._down = now
        noticed = np.flatnonzero(second - self._since >= NOTICED_SECONDS)
        self._since[noticed] = np.inf
        return [self._tell(int(node), second) for node in noticed], inventory

    def _tell(self, node: int, second: int) -> Event:
        name = self._machines.names[node]
        return Event(
            cluster=self._cluster,
            entity=self._machines.nodes[node],
            code=DOWN,
            time_unix_nano=self._nodes.clock(node, second),
            severity="critical",
            text=f"node {name} state DOWN, reason: not responding",
            node=name,
            source=SCHEDULER,
            boot_id=self._nodes.boot_id[node],
            seq=self._nodes.next_seq(node, SCHEDULER),
        )
