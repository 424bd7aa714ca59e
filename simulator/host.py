"""Nodes as hosts: processor, memory, pressure, clock, power, fans; all nodes at once."""

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.load import Load
from simulator.seeds import generator

CLOCK_SECONDS, CLOCK_SIGMA_SECONDS = 120.0, 40e-6  # NTP on a quiet network
EDAC_PER_SECOND = 1 / 86_400
# A management controller shows a mean over some seconds, so that its reading every 10 s does not
# beat against the steps of a job.
BMC_SECONDS = 8.0
AIR_WATTS_PER_KELVIN = 520.0  # heat that a node's air stream takes at full fan speed


class Hosts:
    """State of all nodes; arrays are in the order of `Machines.nodes`."""

    def __init__(self, machines: Machines, seed: int) -> None:
        self._machines = machines
        made = generator(seed, "host.made")
        count = len(machines.nodes)
        self._noise = generator(seed, "host.noise")
        self._errors = generator(seed, "host.errors")
        self._overhead = made.normal(1.0, 0.02, count)
        self._boot(made, count)
        self.offset: Floats = made.normal(0.0, CLOCK_SIGMA_SECONDS, count)
        self._fan: Floats = np.full(count, 0.4)
        self._watts: Floats = np.full(count, machines.hardware.node_overhead_watts)

    def _boot(self, made: np.random.Generator, count: int) -> None:
        self._cpu_pressure: Floats = made.uniform(10, 2000, count)
        self._io_pressure: Floats = made.uniform(10, 500, count)
        self._memory_pressure: Floats = made.uniform(0, 5, count)
        self._edac: Floats = made.poisson(0.3, count).astype(float)
        self._aer: Floats = made.poisson(0.3, count).astype(float)

    def reboot(self, node: int) -> None:
        """Begin all counters of a node anew."""
        pressures = (self._cpu_pressure, self._io_pressure, self._memory_pressure)
        for counter in (*pressures, self._edac, self._aer):
            counter[node] = 0.0

    def advance(self, load: Load) -> None:
        """Go on by one second."""
        noise = self._noise.normal(size=(3, len(self.offset)))
        keep = np.exp(-1.0 / CLOCK_SECONDS)
        self.offset = self.offset * keep + CLOCK_SIGMA_SECONDS * np.sqrt(1 - keep**2) * noise[0]
        self._cpu_pressure += (0.002 + 0.05 * load.cpu**2) * np.exp(0.3 * noise[1])
        writing = (load.storage_read + load.storage_write) / 10e9
        self._io_pressure += (0.001 + 0.1 * writing.clip(0, 1)) * np.exp(0.3 * noise[2])
        self._edac += self._errors.poisson(EDAC_PER_SECOND, len(self._edac))

    def readings(self, load: Load, gpu_watts: Floats, inlet: Floats) -> dict[str, Floats]:
        """Return what kernel and BMC report; `gpu_watts` is the sum of each node."""
        ones = np.ones(len(inlet))
        noise = self._noise.normal(size=(6, len(ones)))
        self._watts += (self._draw(load, gpu_watts) - self._watts) / BMC_SECONDS
        watts = self._watts
        self._fan += (np.clip(0.25 + watts / 12_000, 0.3, 1.0) - self._fan) * 0.05
        outlet = inlet + watts / (AIR_WATTS_PER_KELVIN * self._fan)
        io_wait = 0.002 + 0.1 * ((load.storage_read + load.storage_write) / 10e9).clip(0, 1)
        return {
            "node_cpu_utilization_ratio": (0.02 + load.cpu + 0.004 * noise[0]).clip(0, 1),
            "node_cpu_iowait_ratio": io_wait * np.exp(0.2 * noise[1]),
            "node_pressure_cpu_seconds_total": self._cpu_pressure,
            "node_pressure_io_seconds_total": self._io_pressure,
            "node_pressure_memory_seconds_total": self._memory_pressure,
            "node_memory_available_bytes": self._available(load, noise[2]),
            "node_clock_offset_seconds": self.offset,
            "node_clock_error_seconds": 250e-6 * np.exp(0.2 * noise[3]),
            "node_clock_synchronized": ones,
            "node_power_watts": np.round(watts + 8 * noise[4]),
            "node_inlet_temperature_celsius": np.round(inlet),
            "node_outlet_temperature_celsius": np.round(outlet + 0.2 * noise[5]),
            "node_fan_speed_ratio": np.round(self._fan, 2),
            "node_memory_ecc_corrected_errors_total": self._edac,
            "node_pcie_corrected_errors_total": self._aer,
            "node_hung_tasks_total": 0 * ones,
            "node_gpus_present": self._machines.width * ones,
            "node_gpus_expected": self._machines.width * ones,
        }

    def _draw(self, load: Load, gpu_watts: Floats) -> Floats:
        own = self._machines.hardware.node_overhead_watts * self._overhead
        watts: Floats = gpu_watts * 1.04 + own * (0.6 + 0.4 * load.cpu) + 900 * self._fan**3
        return watts

    def _available(self, load: Load, noise: Floats) -> Floats:
        used = 0.05 + 0.35 * self._machines.total(load.allocated.astype(float)) / (
            self._machines.width
        )
        total = self._machines.hardware.node_memory_bytes
        available: Floats = np.round(total * (1 - used + 0.002 * noise))
        return available
