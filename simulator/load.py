"""What the jobs ask of the machines in one second."""

import numpy as np

from simulator.fleet import Floats, Machines


class Load:
    """One second of work; all shares are of that second, rates in bytes per second."""

    def __init__(self, machines: Machines) -> None:
        gpus, nodes = len(machines.gpus), len(machines.nodes)
        self.allocated = np.zeros(gpus, dtype=bool)
        self.busy: Floats = np.zeros(gpus)  # share with any kernel running
        self.tensor: Floats = np.zeros(gpus)  # share with matrix units running
        self.memory: Floats = np.zeros(gpus)  # share of memory bandwidth
        self.power: Floats = np.zeros(gpus)  # share of the dynamic power
        self.memory_used: Floats = np.zeros(gpus)  # share of device memory
        self.pcie: Floats = np.zeros(gpus)
        self.scale_up: Floats = np.zeros(gpus)
        self.network: Floats = np.zeros(gpus)  # each way, at the GPU's port
        self.cpu: Floats = np.zeros(nodes)  # share of the cores
        self.storage_read: Floats = np.zeros(nodes)
        self.storage_write: Floats = np.zeros(nodes)

    def clear(self) -> None:
        """Take all work away."""
        for array in vars(self).values():
            array.fill(0)
