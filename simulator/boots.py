"""What a boot does to a node: all counters begin anew, a new boot id, its inventory is sent."""

from forewarn.records import InventoryItem
from simulator.announce import Announcer
from simulator.fleet import Machines
from simulator.gpu import Gpus
from simulator.host import Hosts
from simulator.nic import Ports
from simulator.nodes import Nodes


class Boots:
    """Boots nodes of one cluster."""

    def __init__(
        self, machines: Machines, nodes: Nodes, gpus: Gpus, ports: Ports, hosts: Hosts,
        announcer: Announcer,
    ) -> None:  # fmt: skip
        self._machines, self._nodes, self._announcer = machines, nodes, announcer
        self._gpus, self._ports, self._hosts = gpus, ports, hosts

    def reload_driver(self, node: int) -> None:
        """Begin the volatile counters of a node's GPUs anew."""
        self._gpus.reload_driver(self._machines.gpus_of(node))

    def renew(self, node: int, kind: str) -> None:
        """Change what planned work of a kind changes while a node is off."""
        where = self._machines.gpus_of(node)
        if kind == "driver_update":
            self._announcer.update_driver(node)
        elif kind == "sensors_replaced":
            self._gpus.replace_sensors(where)
        elif kind == "gpu_replaced":
            first = slice(where.start, where.start + 1)
            self._gpus.replace(first)
            self._announcer.replace(self._machines.gpus[where.start])

    def boot(self, node: int, second: int) -> list[InventoryItem]:
        """Boot a node; return what its agent announces."""
        self.reload_driver(node)
        self._ports.reboot(self._machines.gpus_of(node))
        self._hosts.reboot(node)
        self._nodes.come_up(node, second)
        return self.announce(node, second)

    def announce(self, node: int, second: int) -> list[InventoryItem]:
        """Return the inventory of a node."""
        now = self._nodes.clock(node, second)
        return self._announcer.nodes(now, range(node, node + 1))
