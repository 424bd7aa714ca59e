"""Network adapters: how many there are, and the width and speed of their PCIe links."""

from collections.abc import Container, Iterator
from pathlib import Path

from exporters.collector import Host, Measurement
from exporters.nic.counters import Answer, measurement, number
from exporters.nic.ports import Port, ports, text
from forewarn.records import Outcome

_PRESENT = "node_nics_present"
# Transfers a second of a lane -> generation (PCI Express Base Specification, link speeds).
GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6, "128.0": 7}


def width(device: Path, which: str) -> Answer:
    """Return the lanes: `which` is `current` or `max`. A link that is down has 0: failed."""
    lanes = number(device / f"{which}_link_width")
    return Outcome.FAILED if lanes == 0.0 else lanes


def generation(device: Path, which: str) -> Answer:
    """Return the generation: `16.0 GT/s PCIe` is 4. Virtual machines say `Unknown`."""
    words = text(device / f"{which}_link_speed").split()
    speed = words[0] if words else ""
    held = GENERATIONS.get(speed if "." in speed else f"{speed}.0")
    return Outcome.UNSUPPORTED if held is None else float(held)


def least(own: Answer, slot: Answer) -> Answer:
    """Return what both sides of the link can do; the slot may not say."""
    if isinstance(own, Outcome) or isinstance(slot, Outcome):
        return own
    return min(own, slot)


class Adapters:
    """Reads the PCI device behind each port; a port without one does not support it."""

    name = "adapters"
    signals = (
        "nic_pcie_link_width",
        "nic_pcie_link_width_max",
        "nic_pcie_link_generation",
        "nic_pcie_link_generation_max",
        _PRESENT,
    )
    deadline_seconds = 2.0

    def __init__(self, host: Host) -> None:
        self._host = host
        self._seen = False

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the links of all ports, and count the adapters."""
        found = [m for port in ports(self._host) for m in self._port(port) if m.signal in due]
        if _PRESENT in due:
            found.append(measurement(_PRESENT, self._host.entity, self._present()))
        return found

    def _port(self, port: Port) -> Iterator[Measurement]:
        device = self._device(port)
        slot = device.parent
        answers: dict[str, Answer] = {
            "nic_pcie_link_width": width(device, "current"),
            "nic_pcie_link_width_max": least(width(device, "max"), width(slot, "max")),
            "nic_pcie_link_generation": generation(device, "current"),
            "nic_pcie_link_generation_max": least(
                generation(device, "max"), generation(slot, "max")
            ),
        }
        for signal, answer in answers.items():
            yield measurement(signal, port.entity, answer)

    def _device(self, port: Port) -> Path:
        """Return the folder of the PCI device; its parent is the bridge of its slot."""
        if port.infiniband is not None:
            return (port.infiniband.parents[1] / "device").resolve()
        return (self._host.sys / "class/net" / port.interface / "device").resolve()

    def _present(self) -> Answer:
        """Count the adapters of the compute fabric: RDMA devices on the PCI bus.

        Where there never were any, the node has no such fabric; where they are gone, it is 0.
        """
        folder = self._host.sys / "class/infiniband"
        devices = {path.resolve() for path in folder.glob("*/device") if path.exists()}
        self._seen |= bool(devices)
        return float(len(devices)) if self._seen else Outcome.UNSUPPORTED
