"""The machines of a scenario: names, and where each stands in the arrays."""

import numpy as np
from numpy.typing import NDArray

from forewarn import entity as entities
from simulator.hardware import HARDWARE, Hardware
from simulator.scenario import Fleet

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Machines:
    """Nodes, GPUs and ports in order; GPU and port `i` of node `n` stand at `n * width + i`.

    Every GPU has one network port beside it, so both arrays have the same length.
    """

    def __init__(self, fleet: Fleet) -> None:
        self.hardware: Hardware = HARDWARE[fleet.hardware]
        self.width = fleet.gpus_per_node
        self.names = fleet.node_names()
        self.nodes = [entities.path("node", name) for name in self.names]
        slots = self.hardware.pci[: self.width]
        self.gpus = [f"{node}/gpu/{slot}" for node in self.nodes for slot in slots]
        ports = range(self.width)
        self.ports = [f"{node}/nic/mlx5_{i}/port/1" for node in self.nodes for i in ports]
        racks = [number // fleet.nodes_per_rack + 1 for number in range(len(self.nodes))]
        self.racks = [f"r{rack:02d}" for rack in racks]
        self.switches = [f"leaf{rack:02d}" for rack in racks]

    def node(self, name: str) -> int:
        """Return the index of the node called `name`. Raises ValueError."""
        return self.names.index(name)

    def gpus_of(self, node: int) -> slice:
        """Return where the GPUs (and the ports) of a node stand."""
        return slice(node * self.width, (node + 1) * self.width)

    def spread(self, per_node: Floats) -> Floats:
        """Repeat a value of every node for each of its GPUs."""
        return np.repeat(per_node, self.width)

    def total(self, per_gpu: Floats) -> Floats:
        """Sum a value of every GPU over its node."""
        summed: Floats = per_gpu.reshape(-1, self.width).sum(axis=1)
        return summed
