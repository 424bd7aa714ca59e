"""Nodes as hosts: processor, memory, pressure, clock, power, fans; all nodes at once."""

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.seeds import generator
from simulator.wander import settle

CLOCK_SECONDS, CLOCK_SIGMA_SECONDS = 120.0, 40e-6  # NTP on a quiet network
FULL_DISK = 0.995  # the rest is kept for root
EDAC_PER_SECOND = 1 / 86_400
# A management controller shows a mean over some seconds, so that its reading every 10 s does not
# beat against the steps of a job.
BMC_SECONDS = 8.0
# Kernels are launched by the host: with all cores taken by others a step takes a quarter longer.
LAUNCH_SHARE = 0.25
AER_PER_REPLAY = 0.1  # corrected PCIe errors that a port reports, per replay of a device
SEGMENTS_PER_SECOND, RESENT_PER_SECOND = 800.0, 0.02  # of TCP; a healthy network loses few
FILLS_PER_SECOND = 1e-7  # of the local disk, by logs
# Share of time that processes wait for shared storage, per time that it is slower than ordinary.
BLOCKED_SHARE, BLOCKED_MOST = 0.012, 0.4
WARM_CELSIUS, FAN_PER_KELVIN = 27.0, 0.03  # above it fans run faster
# The controller also follows the hottest accelerator: nothing below, then so much per kelvin.
HOT_CELSIUS, FAN_PER_HOT_KELVIN = 66.0, 0.025
FAN_SECONDS, FAN_LEAST = 20.0, 0.3
# Fins give heat to air with speed^0.6, between laminar (0.5) and turbulent (0.8) flow; the figures
# of the hardware hold at the fan speed of full load.
AIR_EXPONENT, FULL_LOAD_FAN = -0.6, 0.78
AIR_WATTS_PER_KELVIN = 520.0  # heat that a node's air stream takes at full fan speed


class Hosts:
    """State of all nodes; arrays are in the order of `Machines.nodes`."""

    def __init__(self, machines: Machines, seed: int, raw_meters: float = 0.0) -> None:
        self._machines = machines
        made = generator(seed, "host.made")
        count = len(machines.nodes)
        self._noise = generator(seed, "host.noise")
        self._errors = generator(seed, "host.errors")
        self._overhead = made.normal(1.0, 0.02, count)
        self._boot(made, count)
        self.offset: Floats = made.normal(0.0, CLOCK_SIGMA_SECONDS, count)
        self._fan: Floats = np.full(count, 0.4)
        self._watts: Floats = machines.of_nodes.node_overhead_watts.copy()
        raw = generator(seed, "host.meters").random(count) < raw_meters
        self._meter = np.maximum(np.where(raw, 1.0, BMC_SECONDS), machines.beat) / machines.beat
        self._stolen: Floats = np.zeros(count)
        self._taken: Floats = np.zeros(count)
        self._blocked: Floats = np.zeros(count)
        self._storage_of = machines.storage_of[machines.rack_of]
        self._disk_made = generator(seed, "host.disk").uniform(0.25, 0.6, count)
        self._disk: Floats = self._disk_made.copy()
        self._rare = generator(seed, "host.rare")
        self._inodes: Floats = np.zeros(count)
        self._read_only: Floats = np.zeros(count)
        self._waiting: Floats = np.zeros(count)
        self._skew: Floats = np.zeros(count)
        self._fan_left: Floats = np.ones(count)
        self._hung: Floats = np.zeros(count)
        self._segments: Floats = np.zeros((2, count))  # sent, sent again

    def _boot(self, made: np.random.Generator, count: int) -> None:
        self._cpu_pressure: Floats = made.uniform(10, 2000, count)
        self._io_pressure: Floats = made.uniform(10, 500, count)
        self._memory_pressure: Floats = made.uniform(0, 5, count)
        self._edac: Floats = made.poisson(0.3, count).astype(float)
        self._aer: Floats = made.poisson(0.3, count).astype(float)

    def reboot(self, node: int) -> None:
        """Begin all counters of a node anew."""
        pressures = (self._cpu_pressure, self._io_pressure, self._memory_pressure)
        for counter in (*pressures, self._edac, self._aer, self._hung, *self._segments):
            counter[node] = 0.0

    def clock(self) -> Floats:
        """Return how many seconds each node's clock is off."""
        seconds: Floats = self.offset + self._skew
        return seconds

    def launch(self) -> Floats:
        """Return how fast each node feeds its GPUs, 1 when no one else uses its cores."""
        speed: Floats = 1.0 / (1.0 + LAUNCH_SHARE * self._stolen)
        return speed

    def advance(self, load: Load, knobs: Knobs) -> None:
        """Go on by one beat."""
        self._suffer(knobs)
        noise = self._noise.normal(size=(3, len(self.offset)))
        beat = self._machines.beat
        keep = np.exp(-beat / CLOCK_SECONDS)
        self.offset = self.offset * keep + CLOCK_SIGMA_SECONDS * np.sqrt(1 - keep**2) * noise[0]
        waiting = 0.05 * load.cpu**2 + 0.7 * self._stolen**2
        self._cpu_pressure += beat * np.minimum((0.002 + waiting) * np.exp(0.3 * noise[1]), 1.0)
        writing = (load.storage_read + load.storage_write) / 10e9
        self._io_pressure += beat * (0.001 + 0.1 * writing.clip(0, 1)) * np.exp(0.3 * noise[2])
        self._edac += self._errors.poisson(beat * EDAC_PER_SECOND, len(self._edac))

    def _suffer(self, knobs: Knobs) -> None:
        """Take over what others take: cores, memory, disk; what the PCIe root saw."""
        self._stolen, self._taken = knobs.stolen.copy(), knobs.memory_taken.copy()
        slower = knobs.saturation[self._storage_of] - 1.0
        self._blocked = np.minimum(BLOCKED_SHARE * slower, BLOCKED_MOST)
        beat = self._machines.beat
        self._io_pressure += beat * self._blocked
        lacking = 0.5 * (self._taken > 0.5) * np.maximum(self._taken - 0.5, 0.0)
        self._memory_pressure += beat * lacking
        self._disk_made += beat * FILLS_PER_SECOND
        self._disk = np.maximum(self._disk_made, knobs.disk_filled)
        replays = self._machines.total(knobs.replays)
        self._aer += self._errors.poisson(beat * AER_PER_REPLAY * replays)
        self._break(knobs)

    def _break(self, knobs: Knobs) -> None:
        """Take over what is rare."""
        self._inodes, self._read_only = knobs.inodes_filled.copy(), knobs.read_only.copy()
        self._waiting, self._skew = knobs.waiting_io.copy(), knobs.skew.copy()
        self._fan_left = 1.0 - knobs.fan_lost
        self._hung += knobs.hung
        beat = self._machines.beat
        again = RESENT_PER_SECOND + knobs.resent
        sent = np.full(len(again), SEGMENTS_PER_SECOND)
        self._segments += self._rare.poisson(beat * np.stack([sent, again]))
        self._edac += self._rare.poisson(beat * knobs.edac)

    def blow(self, inlet: Floats, hottest: Floats) -> None:
        """Let the fans follow power, inlet air and each node's hottest accelerator, in celsius."""
        asked = 0.25 + self._watts / 12_000 + FAN_PER_KELVIN * np.maximum(inlet - WARM_CELSIUS, 0)
        asked += FAN_PER_HOT_KELVIN * np.maximum(hottest - HOT_CELSIUS, 0.0)
        target = np.clip(asked, FAN_LEAST, 1.0) * self._fan_left
        settle(self._fan, target, FAN_SECONDS, self._machines.beat)

    def airflow(self) -> Floats:
        """Return the factor on the resistance from fins to air, by node; 1 at full load."""
        factor: Floats = (self._fan / FULL_LOAD_FAN) ** AIR_EXPONENT
        return factor

    def readings(
        self, load: Load, gpu_watts: Floats, inlet: Floats, lost: Floats
    ) -> dict[str, Floats]:
        """Return what kernel and BMC report; `gpu_watts` is the sum of each node.

        `lost` is 1 for each GPU that is off the bus.
        """
        ones = np.ones(len(inlet))
        noise = self._noise.normal(size=(6, len(ones)))
        self._watts += (self._draw(load, gpu_watts) - self._watts) / self._meter
        watts = self._watts
        outlet = inlet + watts / (AIR_WATTS_PER_KELVIN * self._fan)
        io_wait = 0.002 + 0.1 * ((load.storage_read + load.storage_write) / 10e9).clip(0, 1)
        return {
            "node_cpu_utilization_ratio": self._busy(load, noise[0]),
            "node_cpu_iowait_ratio": (io_wait + self._blocked + self._waiting)
            * np.exp(0.2 * noise[1]),
            "node_pressure_cpu_seconds_total": self._cpu_pressure,
            "node_pressure_io_seconds_total": self._io_pressure,
            "node_pressure_memory_seconds_total": self._memory_pressure,
            "node_memory_available_bytes": self._available(load, noise[2]),
            "node_clock_offset_seconds": self.clock(),
            "node_clock_error_seconds": 250e-6 * np.exp(0.2 * noise[3]),
            "node_clock_synchronized": (self._skew == 0) * ones,
            "node_power_watts": np.round(watts + 8 * noise[4]),
            "node_inlet_temperature_celsius": np.round(inlet),
            "node_outlet_temperature_celsius": np.round(outlet + 0.2 * noise[5]),
            "node_fan_speed_ratio": np.round(self._fan, 2),
            "node_memory_ecc_corrected_errors_total": self._edac,
            "node_pcie_corrected_errors_total": self._aer,
            "node_hung_tasks_total": self._hung,
            "node_gpus_present": self._machines.width - self._machines.total(lost),
            "node_gpus_expected": self._machines.width * ones,
            "node_filesystem_used_ratio": np.round(self._disk, 4),
            "node_filesystem_inodes_used_ratio": np.round(
                np.maximum(0.1 + 0.1 * self._disk, self._inodes), 4
            ),
            "node_filesystem_read_only": self._read_only,
            "node_tcp_sent_segments_total": self._segments[0],
            "node_tcp_retransmitted_segments_total": self._segments[1],
        }

    def watts(self) -> Floats:
        """Return what each node draws."""
        return self._watts

    def full_disks(self) -> Floats:
        """Return 1 for each node whose local disk takes no more."""
        return (self._disk >= FULL_DISK).astype(float)

    def _busy(self, load: Load, noise: Floats) -> Floats:
        used = 0.02 + load.cpu
        busy: Floats = used + self._stolen * (1.0 - used) + 0.004 * noise
        return busy.clip(0, 1)

    def _draw(self, load: Load, gpu_watts: Floats) -> Floats:
        own = self._machines.of_nodes.node_overhead_watts * self._overhead
        watts: Floats = gpu_watts * 1.04 + own * (0.6 + 0.4 * load.cpu) + 900 * self._fan**3
        return watts

    def _available(self, load: Load, noise: Floats) -> Floats:
        used = 0.05 + 0.35 * self._machines.total(load.allocated.astype(float)) / (
            self._machines.width
        )
        total = self._machines.of_nodes.node_memory_bytes
        free = (1 - used) * (1 - self._taken) + 0.002 * noise
        available: Floats = np.round(total * free.clip(0.001, 1))
        return available
