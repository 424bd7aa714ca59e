"""The table of collectors: what the agent reads on every node. One line a collector."""

from collections.abc import Callable, Iterable

from exporters.collector import Collector, Host
from exporters.devices import Compound
from exporters.gpu.nvml.node import Nvml
from exporters.host.clock import Clock
from exporters.host.limits import Limits
from exporters.host.memory_errors import MemoryErrors
from exporters.host.pcie import Pcie
from exporters.host.pressure import Pressure
from exporters.host.processor import Processor
from exporters.host.tcp import Tcp
from exporters.nic.adapters import Adapters
from exporters.nic.interfaces import Interfaces
from exporters.nic.optics import Optics
from exporters.storage.drives import Drives
from exporters.storage.filesystems import Filesystems
from exporters.storage.mounts import Mounts
from exporters.storage.mountstats import Mountstats
from exporters.storage.smart import Smart
from forewarn.errors import ConfigError

COLLECTORS: dict[str, Callable[[Host], Collector]] = {
    "adapters": Adapters,
    "clock": Clock,
    "drives": Drives,
    "filesystems": Filesystems,
    "interfaces": Interfaces,
    "limits": Limits,
    "memory_errors": MemoryErrors,
    "mounts": Mounts,
    "mountstats": Mountstats,
    "nvml": Nvml,
    "optics": Optics,
    "pcie": Pcie,
    "pressure": Pressure,
    "processor": Processor,
    "smart": Smart,
    "tcp": Tcp,
}
# Sources of events: they wait for something to happen instead of being asked.
STREAMS = ("kernel_log", "reporter", "job_logs")


def build(host: Host, disable: Iterable[str] = ()) -> list[Collector]:
    """Make the collectors of a node and of its devices, less those disabled.

    Raises:
        ConfigError: if a disabled name is none of ours.

    """
    unknown = sorted(set(disable) - COLLECTORS.keys() - set(STREAMS))
    if unknown:
        known = ", ".join([*COLLECTORS, *STREAMS])
        raise ConfigError(f"agent.disable: unknown {', '.join(unknown)}; one of {known}")
    made = [make(host) for name, make in COLLECTORS.items() if name not in set(disable)]
    devices = [part for own in made if isinstance(own, Compound) for part in own.parts()]
    return [*made, *devices]
