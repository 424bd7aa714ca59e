"""The machines of a scenario: names, where each stands in the arrays, and what hangs on what."""

import numpy as np
from numpy.typing import NDArray

from forewarn import entity as entities
from simulator.figures import Figures
from simulator.hardware import HARDWARE, LIQUID, Hardware
from simulator.scenario import Fleet, LiquidCooling

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]
UPLINKS = 8  # of a leaf switch; its ports 1 … are the nodes', the uplinks come behind
LOCAL, SHARED = "/scratch", "/data"  # mounts of every node


class Machines:
    """Nodes, GPUs and ports in order; GPU and port `i` of node `n` stand at `n * width + i`.

    Every GPU has one network port beside it, so both arrays have the same length. Racks, loops,
    feeds, rooms and storages are numbered in order; `rack_of` is by node, `loop_of` and the others
    by rack. Every rack has one leaf switch of the same number. `beat` is the time between two
    readings, in seconds: all that moves goes on by so much at once. `models` are the nodes'
    hardware; `of_gpus` and `of_nodes` its figures as arrays.
    """

    def __init__(self, fleet: Fleet, beat: int = 1) -> None:
        self.beat = beat
        self.liquid = isinstance(fleet.cooling, LiquidCooling)
        self.width = fleet.gpus_per_node
        known = LIQUID if self.liquid else HARDWARE
        self.models: list[Hardware] = [known[name] for name in fleet.hardware_of_nodes()]
        self.of_gpus = Figures(self.models, self.width)
        self.of_nodes = Figures(self.models)
        self.names = fleet.node_names()
        self.nodes = [entities.path("node", name) for name in self.names]
        self.gpus = [
            f"{node}/gpu/{slot}"
            for node, model in zip(self.nodes, self.models, strict=True)
            for slot in model.pci[: self.width]
        ]
        ports = range(self.width)
        self.ports = [f"{node}/nic/mlx5_{i}/port/1" for node in self.nodes for i in ports]
        self.local_mounts = [entities.path("node", name, "mount", LOCAL) for name in self.names]
        self.shared_mounts = [entities.path("node", name, "mount", SHARED) for name in self.names]
        self._hang(fleet)

    def _hang(self, fleet: Fleet) -> None:
        self.rack_of: Indices = np.arange(len(self.names)) // fleet.nodes_per_rack
        self.racks = _names("r{:02d}", self.rack_of)
        self.switches = _names("leaf{:02d}", self.rack_of)
        racks = np.arange(len(self.racks))
        per_loop = fleet.cooling.racks_per_loop if isinstance(fleet.cooling, LiquidCooling) else 1
        self.loop_of: Indices = racks // per_loop
        self.loops = _names("cdu-{}", self.loop_of) if self.liquid else []
        self.feed_of: Indices = racks // fleet.racks_per_feed
        self.feeds = _names("feed-{}", self.feed_of)
        self.storage_of: Indices = racks // fleet.racks_per_storage
        self.storages = _names("fs{}", self.storage_of)
        self.room_of: Indices = racks // fleet.racks_per_room
        self.rooms = _names("room-{}", self.room_of)
        self.switch_ports = fleet.nodes_per_rack * self.width  # of a leaf, without its uplinks

    def node(self, name: str) -> int:
        """Return the index of the node called `name`. Raises ValueError."""
        return self.names.index(name)

    def gpus_of(self, node: int) -> slice:
        """Return where the GPUs (and the ports) of a node stand."""
        return slice(node * self.width, (node + 1) * self.width)

    def nodes_in(self, rack: int) -> Indices:
        """Return the nodes of a rack."""
        return np.flatnonzero(self.rack_of == rack)

    def spread(self, per_node: Floats) -> Floats:
        """Repeat a value of every node for each of its GPUs."""
        return np.repeat(per_node, self.width)

    def total(self, per_gpu: Floats) -> Floats:
        """Sum a value of every GPU over its node."""
        summed: Floats = per_gpu.reshape(-1, self.width).sum(axis=1)
        return summed

    def hottest(self, per_gpu: Floats) -> Floats:
        """Return the largest value among the GPUs of each node."""
        largest: Floats = per_gpu.reshape(-1, self.width).max(axis=1)
        return largest

    def by_rack(self, per_node: Floats) -> Floats:
        """Sum a value of every node over its rack."""
        return np.bincount(self.rack_of, per_node, len(self.racks)).astype(np.float64)

    def most_by_rack(self, per_node: Floats) -> Floats:
        """Return what each rack is laid out for: its largest node times its nodes."""
        first = np.flatnonzero(np.diff(self.rack_of, prepend=-1))
        largest: Floats = np.maximum.reduceat(per_node, first)
        return np.bincount(self.rack_of).astype(np.float64) * largest

    def switch_port(self, port: int) -> str:
        """Return the switch port that the port `port` (its index) is plugged into."""
        rack = int(self.rack_of[port // self.width])
        first = int(self.nodes_in(rack)[0]) * self.width
        return f"switch/{self.switches[rack]}/port/{port - first + 1}"


def _names(pattern: str, groups: Indices) -> list[str]:
    return [pattern.format(number + 1) for number in range(int(groups.max()) + 1)]
