"""Events of machines: what agents read in kernel logs and driver events when something changes."""

import msgspec
import numpy as np

from forewarn import entity as entities
from forewarn.records import Event, Severity
from simulator.announce import SOURCE
from simulator.fleet import Bools, Floats, Indices, Machines
from simulator.gpu import HW_BRAKE, HW_SLOWDOWN, HW_THERMAL, Gpus
from simulator.knobs import Knobs, Telling
from simulator.nic import Ports
from simulator.nodes import Nodes
from simulator.plant import FABRIC, NAMES, POWER, SOURCES, STORAGE, supply
from simulator.power import Power
from simulator.switches import Switches


class What(msgspec.Struct, frozen=True):
    """A kind of event; in `text` stand {index} of the GPU in its node and {pci}, its slot."""

    code: str
    severity: Severity
    text: str


_CLOCKS = "GPU {{index}}: clocks held down, reasons {:#x}"
HOT = What("gpu.clock_event:hw_thermal", "major", _CLOCKS.format(HW_SLOWDOWN | HW_THERMAL))
BRAKED = What("gpu.clock_event:hw_power_brake", "major", _CLOCKS.format(HW_SLOWDOWN | HW_BRAKE))
LOST = What("nvidia.xid:79", "critical", "NVRM: Xid (PCI:{pci}): 79, GPU has fallen off the bus.")
# An uncorrected error in memory that could be contained: its page is retired and a spare row waits
# for a reset (63); the process that used it dies (94).
POISONED = (
    What("nvidia.xid:48", "critical",
         "NVRM: Xid (PCI:{pci}): 48, An uncorrectable double bit error (DBE) has been detected"),
    What("nvidia.xid:63", "minor",
         "NVRM: Xid (PCI:{pci}): 63, Row Remapper: New row marked for remapping, reset gpu"),
    What("nvidia.xid:94", "major", "NVRM: Xid (PCI:{pci}): 94, Contained: SM error. RST: No"),
)  # fmt: skip
DOWN = What("nic.link_state:down", "major", "mlx5_core: Link down")
ACTIVE = What("nic.link_state:active", "info", "mlx5_core: Link up")
PORT_DOWN = What("switch.port_state:down", "major", "oper state down")
PORT_UP = What("switch.port_state:up", "info", "oper state up")
SUPPLY_LOST = What("psu.state:lost", "major", "power supply lost")
SUPPLY_BACK = What("psu.state:ok", "info", "power supply ok")
KILLED = What("kernel.oom:global", "major", "Out of memory: Killed process 41877 (python)")


class Happenings:
    """Compares each second with the one before and says what began and ended."""

    def __init__(self, machines: Machines, cluster: str, nodes: Nodes, gateways: Nodes) -> None:
        self._machines, self._cluster = machines, cluster
        self._nodes, self._gateways = nodes, gateways
        none = np.zeros(len(machines.gpus), dtype=bool)
        self._before: dict[str, Bools] = {"hot": none, "brake": none, "lost": none, "down": none}
        self._supplies: Floats | None = None

    def events(
        self, second: int, gpus: Gpus, ports: Ports, switches: Switches, power: Power, knobs: Knobs
    ) -> list[Event]:
        """Return the events of this second."""
        out: list[Event] = []
        for name, now, what in (
            ("hot", gpus.slowed, HOT), ("brake", gpus.braked, BRAKED), ("lost", gpus.lost, LOST)
        ):  # fmt: skip
            began, _ = self._changes(name, now)
            out += [self._gpu(int(gpu), what, second) for gpu in began]
        for gpu in np.flatnonzero(knobs.poisoned):
            out += [self._gpu(int(gpu), what, second) for what in POISONED]
        for node in np.flatnonzero(knobs.killed):
            out.append(self._node(int(node), self._machines.nodes[node], KILLED, second))
        out += [own for what in knobs.told if (own := self._told(what, second)) is not None]
        return out + self._links(second, ports, switches) + self._shelves(second, power)

    def _told(self, what: Telling, second: int) -> Event | None:
        """Return an event that a fault makes; None for those of jobs, and of nodes that are off."""
        machines, index = self._machines, what.index
        said = What(what.code, what.severity, what.text)
        if what.kind == "switch":
            return self._gateway(FABRIC, f"switch/{machines.switches[index]}", said, second)
        if what.kind == "storage_target":
            entity = f"storage_target/{machines.storages[index]}"
            return self._gateway(STORAGE, entity, said, second)
        where = {
            "gpu": machines.gpus, "nic_port": machines.ports, "node": machines.nodes,
            "shared_mount": machines.shared_mounts,
        }  # fmt: skip
        if what.kind not in where:
            return None
        if what.kind == "gpu":
            return self._gpu(index, said, second)
        node = index // machines.width if what.kind == "nic_port" else index
        return self._node(node, where[what.kind][index], said, second)

    def _changes(self, name: str, now: Bools) -> tuple[Indices, Indices]:
        before, self._before[name] = self._before[name], now.copy()
        return np.flatnonzero(now & ~before), np.flatnonzero(before & ~now)

    def _links(self, second: int, ports: Ports, switches: Switches) -> list[Event]:
        """Both ends tell of a link; a switch that is down, or was just now, tells nothing."""
        out: list[Event] = []
        began, ended = self._changes("down", ports.down)
        for changed, near, far in ((began, DOWN, PORT_DOWN), (ended, ACTIVE, PORT_UP)):
            for port in map(int, changed):
                node = port // self._machines.width
                if self._nodes.up[node]:
                    out.append(self._node(node, self._machines.ports[port], near, second))
                if not switches.down[self._machines.rack_of[node]]:
                    entity = self._machines.switch_port(port)
                    out.append(self._gateway(FABRIC, entity, far, second))
        return out

    def _shelves(self, second: int, power: Power) -> list[Event]:
        before, self._supplies = self._supplies, power.up.copy()
        if before is None:
            return []
        out: list[Event] = []
        for rack in map(int, np.flatnonzero(before != power.up)):
            first, last = sorted((int(before[rack]), int(power.up[rack])))
            what = SUPPLY_LOST if power.up[rack] < before[rack] else SUPPLY_BACK
            names = [supply(self._machines, rack, n) for n in range(first + 1, last + 1)]
            out += [self._gateway(POWER, entity, what, second) for entity in names]
        return out

    def _gpu(self, gpu: int, what: What, second: int) -> Event:
        node, index = divmod(gpu, self._machines.width)
        entity = self._machines.gpus[gpu]
        pci = entities.last_name(entity).removesuffix(".0")
        text = what.text.format(index=index, pci=pci)
        return self._node(node, entity, msgspec.structs.replace(what, text=text), second)

    def _node(self, node: int, entity: str, what: What, second: int) -> Event:
        name = self._machines.names[node]
        return self._event(self._nodes, node, name, SOURCE, entity, what, second)

    def _gateway(self, own: int, entity: str, what: What, second: int) -> Event:
        return self._event(self._gateways, own, NAMES[own], SOURCES[own], entity, what, second)

    def _event(
        self, nodes: Nodes, own: int, name: str, source: str, entity: str, what: What, second: int
    ) -> Event:
        return Event(
            cluster=self._cluster,
            entity=entity,
            code=what.code,
            time_unix_nano=nodes.clock(own, second),
            severity=what.severity,
            text=what.text,
            node=name,
            source=source,
            boot_id=nodes.boot_id[own],
            seq=nodes.next_seq(own, f"{source}/events"),
        )
