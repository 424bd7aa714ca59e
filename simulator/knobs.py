"""What faults turn; physics reads it. At rest everything is healthy."""

import numpy as np

from simulator.fleet import Floats, Machines


class Gradient:
    """How a job's training goes wrong: the factor on its gradient norm, and whether it is NaN."""

    def __init__(self) -> None:
        self.factor = 1.0
        self.is_nan = False


class Knobs:
    """One array a way to fail; each says by what it is indexed and its unit."""

    def __init__(self, machines: Machines, jobs: tuple[str, ...]) -> None:
        self._rest: list[tuple[Floats, float]] = []
        self._by_gpu(len(machines.gpus))
        self._by_node(len(machines.nodes))
        self._by_rack(len(machines.racks))
        self.pump_lost = self._array(len(machines.loops))  # share of a loop's pump speed
        self.coolant_kelvin = self._array(len(machines.loops))  # above the set point
        self.room_kelvin = self._array(len(machines.rooms))  # above the set point
        self.saturation = self._array(len(machines.storages), 1.0)  # factor on operation time
        self.starved = self._array(len(jobs))  # share of a step that all ranks wait for data
        self.gradient = {job: Gradient() for job in jobs}

    def _array(self, count: int, rest: float = 0.0) -> Floats:
        array: Floats = np.full(count, rest)
        self._rest.append((array, rest))
        return array

    def _by_gpu(self, count: int) -> None:
        """Make the knobs of GPUs and of the ports beside them."""
        self.paste = self._array(count, 1.0)  # factor on the paste's thermal resistance
        self.ecc = self._array(count)  # corrected memory errors, more per second
        self.poisoned = self._array(count)  # 1 in the second of an uncorrected error
        self.lost = self._array(count)  # 1 while the GPU is off the bus
        self.crc = self._array(count)  # scale-up link errors, more per second
        self.lanes_halved = self._array(count)  # how often the PCIe width was halved
        self.replays = self._array(count)  # PCIe replays, more per second
        self.loader = self._array(count)  # share of a step that the rank there waits for data
        self.symbol_errors = self._array(count)  # more per second, by port
        self.cut = self._array(count)  # 1 while the port's link is down

    def _by_node(self, count: int) -> None:
        self.stolen = self._array(count)  # share of the cores that others use
        self.memory_taken = self._array(count)  # share of the node's memory leaked
        self.killed = self._array(count)  # 1 in the second in which the kernel kills
        self.disk_filled = self._array(count)  # used share of the local disk, at least

    def _by_rack(self, count: int) -> None:
        """Make the knobs of racks and of their switches."""
        self.clogged = self._array(count)  # share of the coolant path's conductance lost
        self.supplies_lost = self._array(count)  # supply units that do not work
        self.switch_down = self._array(count)  # 1 while the leaf switch is off
        self.switch_kelvin = self._array(count)  # its temperature above the ordinary
        self.congestion = self._array(count)  # traffic beyond the uplinks' capacity, share of it

    def clear(self) -> None:
        """Turn everything back to healthy (NaN in weights does not heal: see `Gradient`)."""
        for array, rest in self._rest:
            array.fill(rest)
        for gradient in self.gradient.values():
            gradient.factor = 1.0
