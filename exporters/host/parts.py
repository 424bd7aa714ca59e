"""Names of parts as kernel lines spell them become entities of the node."""

from collections.abc import Iterator
from pathlib import Path

from exporters.collector import Host
from exporters.host.kernel_rules import Hit, signals
from exporters.nic.ports import ports
from exporters.pci import slot
from forewarn import entity as entities

NVIDIA = "0x10de"
_DISPLAY = "0x03"  # PCI base class of display and 3D controllers


def entity(host: Host, hit: Hit) -> str:
    """Return where a hit happened."""
    if hit.where == "gpu":
        return f"{host.entity}/gpu/{entities.name(slot(hit.at))}"
    if hit.where == "nic":
        return _port(host, hit.at)
    if hit.where == "nic_slot":
        return _port(host, _interface(host, slot(hit.at)))
    if hit.where == "disk":
        # The kernel names the controller; its drive is the first namespace.
        return f"{host.entity}/disk/{entities.name(hit.at)}n1"
    return host.entity


def _port(host: Host, interface: str) -> str:
    """Return the entity of an interface: its RDMA port, where it is one."""
    held = [port.entity for port in ports(host) if interface in port.names]
    return held[0] if held else f"{host.entity}/nic/{entities.name(interface)}/port/1"


def _interface(host: Host, address: str) -> str:
    """Return the network interface of a PCI device, or the address where it has none."""
    folder = host.sys / "bus/pci/devices" / address / "net"
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return names[0] if names else address


def watched(host: Host) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the parts that kernel lines can speak of, each with the events they can tell."""
    yield host.entity, ("node.boot_id", *signals("node"))
    for address in gpus(host):
        yield f"{host.entity}/gpu/{address}", signals("gpu")
    for adapter in sorted((host.sys / "class/net").glob("*/device/driver")):
        if adapter.resolve().name == "mlx5_core":
            yield _port(host, adapter.parents[1].name), signals("nic", "nic_slot")
    for drive in sorted((host.sys / "block").glob("nvme*n1")):
        yield f"{host.entity}/disk/{drive.name}", signals("disk")


def gpus(host: Host) -> list[str]:
    """Return the PCI addresses of NVIDIA accelerators, from sysfs: no driver is needed."""
    devices = sorted((host.sys / "bus/pci/devices").glob("*"))
    return [
        device.name
        for device in devices
        if _text(device / "vendor") == NVIDIA and _text(device / "class").startswith(_DISPLAY)
    ]


def _text(path: Path) -> str:
    return path.read_text(encoding="ascii").strip() if path.exists() else ""
