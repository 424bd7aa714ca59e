"""What the jobs ask of the machines in one second, and what faults change in them."""

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


class Gradient:
    """How a job's training goes wrong: the factor on its gradient norm, and whether it is NaN."""

    def __init__(self) -> None:
        self.factor = 1.0
        self.is_nan = False


class Knobs:
    """What faults turn; physics reads it. At rest everything is healthy."""

    def __init__(self, machines: Machines, jobs: tuple[str, ...]) -> None:
        count = len(machines.gpus)
        self.paste: Floats = np.ones(count)  # factor on the paste's thermal resistance
        self.symbol_errors: Floats = np.zeros(count)  # more per second, by port
        self.gradient = {job: Gradient() for job in jobs}

    def clear(self) -> None:
        """Turn everything back to healthy (NaN in weights does not heal: see `Gradient`)."""
        self.paste.fill(1.0)
        self.symbol_errors.fill(0.0)
        for gradient in self.gradient.values():
            gradient.factor = 1.0
