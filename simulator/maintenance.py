"""Planned work on nodes: a driver reload between jobs, or a reboot that the scheduler announces."""

from forewarn.records import Event, InventoryItem
from simulator.boots import Boots
from simulator.fleet import Machines
from simulator.nodes import Nodes
from simulator.scenario import Maintenance, Scenario
from simulator.signals import SCHEDULER


class Works:
    """Does each piece of work when it is due."""

    def __init__(self, scenario: Scenario, machines: Machines, nodes: Nodes, boots: Boots) -> None:
        self._works, self._cluster = scenario.maintenance, scenario.cluster
        self._machines, self._nodes, self._boots = machines, nodes, boots

    def advance(self, second: int) -> tuple[list[Event], list[InventoryItem]]:
        """Do what falls on this beat; return what is told of it."""
        events: list[Event] = []
        inventory: list[InventoryItem] = []
        for work in self._works:
            node, begins = self._machines.node(work.node), int(work.at_seconds)
            if work.kind == "driver_reload":
                if self._is_now(begins, second):
                    self._boots.reload_driver(node)
            elif self._is_now(begins, second):
                events.append(self._announce(work, node, second))
                self._nodes.go_down(node)
            elif self._is_now(begins + int(work.down_seconds), second):
                self._boots.renew(node, work.kind)
                inventory += self._boots.boot(node, second)
        return events, inventory

    def _is_now(self, at: int, second: int) -> bool:
        return second <= at < second + self._machines.beat

    def _announce(self, work: Maintenance, node: int, second: int) -> Event:
        return Event(
            cluster=self._cluster,
            entity=self._machines.nodes[node],
            code="node.maintenance:planned",
            time_unix_nano=self._nodes.clock(node, second),
            severity="info",
            text=f"planned on {work.node}: {work.kind}",
            node=work.node,
            source=SCHEDULER,
            boot_id=self._nodes.boot_id[node],
            seq=self._nodes.next_seq(node, SCHEDULER),
        )
