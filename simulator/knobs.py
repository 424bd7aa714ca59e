"""What faults turn; physics reads it. At rest everything is healthy."""

import msgspec
import numpy as np

from forewarn.records import Severity
from simulator.fleet import Floats, Machines


class Telling(msgspec.Struct, frozen=True):
    """A coded event that a fault makes: `kind` and `index` say where, as in `simulator.places`."""

    kind: str
    index: int
    code: str
    severity: Severity
    text: str


class Gradient:
    """How a job's training goes wrong: factors on its gradient norm and loss, and whether NaN."""

    def __init__(self) -> None:
        self.factor = 1.0
        self.loss = 1.0
        self.is_nan = False


class Knobs:
    """One array a way to fail; each says by what it is indexed and its unit.

    `beat` is the time between two turns, seconds: what lasts for one turn lasts that long. `width`
    is the number of GPUs of a node, `told` are the events of this turn.
    """

    def __init__(self, machines: Machines, jobs: tuple[str, ...]) -> None:
        self._rest: list[tuple[Floats, float]] = []
        self.beat, self.width = float(machines.beat), machines.width
        self.told: list[Telling] = []
        self._by_gpu(len(machines.gpus))
        self._by_node(len(machines.nodes))
        self._by_rack(len(machines.racks))
        self.pump_lost = self._array(len(machines.loops))  # share of a loop's pump speed
        self.coolant_kelvin = self._array(len(machines.loops))  # above the set point
        self.room_kelvin = self._array(len(machines.rooms))  # above the set point
        self.humid = self._array(len(machines.rooms))  # relative humidity above the ordinary
        self.stale = self._array(len(machines.rooms))  # 1 while the room's data is not fresh
        self.foreign_share = self._array(len(machines.feeds))  # of the rating, drawn by others
        self.sag = self._array(len(machines.feeds))  # share of the voltage that is missing
        self._by_storage(len(machines.storages))
        self._by_job(len(jobs))
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
        self._by_device(count)
        self._by_port(count)

    def _by_device(self, count: int) -> None:
        """Make the knobs of GPUs that need no link."""
        self.silent = self._array(count)  # 1 while the GPU answers nothing
        self.missing = self._array(count)  # 1 while the driver does not list it
        self.crashed = self._array(count)  # 1 in the second in which the process on it dies
        self.clock_held = self._array(count)  # share of the clock lost without a reason given
        self.limit_cut = self._array(count)  # share by which the power limit is lower
        self.memory_kelvin = self._array(count)  # of the memory, beyond what the core explains
        self.frozen = self._array(count)  # 1 while the core's sensor repeats its last reading
        self.remapped = self._array(count)  # memory rows replaced after uncorrected errors
        self.pending = self._array(count)  # 1 while a row waits for a reset
        self.remap_failed = self._array(count)  # 1 once no spare row is left
        self.links_lost = self._array(count)  # scale-up links that are inactive
        self.fatal_links = self._array(count)  # 1 in the second of a fatal scale-up error

    def _by_port(self, count: int) -> None:
        self.symbol_errors = self._array(count)  # more per second
        self.cut = self._array(count)  # 1 while the port's link is down
        self.dimmed = self._array(count)  # decibels of received light lost
        self.speed_halved = self._array(count)  # how often the port's speed was halved
        self.optic_kelvin = self._array(count)  # of the module above the ordinary
        self.unordered = self._array(count)  # packets out of sequence, more per second
        self.unbuffered = self._array(count)  # packets without a receive buffer, per second
        self.paused = self._array(count)  # pause frames received, more per second
        self.pausing = self._array(count)  # pause frames sent, more per second
        self.port_lanes_halved = self._array(count)  # PCIe width of the adapter, how often halved

    def _by_node(self, count: int) -> None:
        self.stolen = self._array(count)  # share of the cores that others use
        self.memory_taken = self._array(count)  # share of the node's memory leaked
        self.killed = self._array(count)  # 1 in the second in which the kernel kills
        self.disk_filled = self._array(count)  # used share of the local disk, at least
        self.inodes_filled = self._array(count)  # used share of its inodes, at least
        self.read_only = self._array(count)  # 1 while the local file system takes no writes
        self.down = self._array(count)  # 1 while the node is off
        self.mute = self._array(count)  # 1 while its agent sends nothing
        self.hung = self._array(count)  # tasks that hang in this second
        self.hanging = self._array(count)  # 1 while the processes of jobs there stand still
        self.waiting_io = self._array(count)  # share of time that processors wait for disks
        self.far = self._array(count, 1.0)  # factor on operations of the shared mount
        self.evicted = self._array(count)  # 1 in the second in which the storage expels it
        self.unanswered = self._array(count)  # requests to storage that time out in this second
        self.edac = self._array(count)  # corrected errors of main memory, more per second
        self.skew = self._array(count)  # seconds that its clock is off
        self.resent = self._array(count)  # TCP segments sent again, more per second
        self.fan_lost = self._array(count)  # share of the fans' speed

    def _by_rack(self, count: int) -> None:
        """Make the knobs of racks and of their switches."""
        self.clogged = self._array(count)  # share of the coolant path's conductance lost
        self.supplies_lost = self._array(count)  # supply units that do not work
        self.switch_down = self._array(count)  # 1 while the leaf switch is off
        self.switch_kelvin = self._array(count)  # its temperature above the ordinary
        self.congestion = self._array(count)  # traffic beyond the uplinks' capacity, share of it
        self.credits = self._array(count)  # factor on waiting for credits, beyond 1
        self.dropped = self._array(count)  # packets discarded per second, by each uplink
        self.storm = self._array(count)  # pause frames per second at all its ports
        self.leaking = self._array(count)  # share of the coolant flow lost through a leak
        self.leak_blind = self._array(count)  # 1 while its leak sensor is faulty

    def _by_storage(self, count: int) -> None:
        self.saturation = self._array(count, 1.0)  # factor on operation time
        self.writes_slow = self._array(count, 1.0)  # factor on checkpoints
        self.target_filled = self._array(count)  # used share, at least
        self.metadata = self._array(count, 1.0)  # factor on metadata operations

    def _by_job(self, count: int) -> None:
        self.starved = self._array(count)  # share of a step that all ranks wait for data
        self.slower = self._array(count)  # share by which all ranks compute longer
        self.stuck = self._array(count)  # 1 while the job stands still
        self.aborted = self._array(count)  # 1 in the second in which it ends by itself

    def clear(self) -> None:
        """Turn everything back to healthy (NaN in weights does not heal: see `Gradient`)."""
        for array, rest in self._rest:
            array.fill(rest)
        for gradient in self.gradient.values():
            gradient.factor = gradient.loss = 1.0
        self.told.clear()

    def tell(self, kind: str, index: int, code: str, text: str, severity: Severity) -> None:
        """Add an event."""
        self.told.append(Telling(kind, index, code, severity, text))
