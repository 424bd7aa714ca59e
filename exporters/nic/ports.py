"""Which network ports a node has: RDMA ports with their network interface, and plain interfaces.

A port that sysfs shows twice, as an RDMA device (`mlx5_0`) and as a network interface (`ens1f0`),
is one entity, named by the RDMA device: that is what training libraries and switches call it.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from exporters.collector import Host
from forewarn import entity as entities

IFF_UP = 0x1


class Port(msgspec.Struct, frozen=True):
    """One port: its RDMA folder (`…/infiniband/mlx5_0/ports/1`) and its interface, if it has them.

    `interface` is empty on an InfiniBand link: what its IPoIB interface counts is only a part.
    """

    entity: str
    infiniband: Path | None
    interface: str
    names: tuple[str, ...]  # interfaces that are this port


def ports(host: Host) -> list[Port]:
    """Return all ports that somebody has brought up."""
    found = list(_rdma(host))
    taken = {name for port in found for name in port.names}
    return found + [
        Port(f"{host.entity}/nic/{entities.name(name)}/port/1", None, name, (name,))
        for name in interfaces(host)
        if name not in taken
    ]


def interfaces(host: Host) -> list[str]:
    """Return the interfaces that have a device behind them, and virtual ones that are asked for.

    Loopback, bridges and tunnels are left out, and so are interfaces that nobody has brought up
    (IFF_UP unset): their link is down on purpose.
    """
    folder = host.sys / "class/net"
    found = (path.name for path in folder.iterdir() if (path / "flags").exists())
    return sorted(name for name in found if _ours(host, name) and is_up(host, name))


def _ours(host: Host, name: str) -> bool:
    asked = any(fnmatchcase(name, pattern) for pattern in host.interfaces)
    return asked or (host.sys / "class/net" / name / "device").exists()


def is_up(host: Host, interface: str) -> bool:
    """Say whether somebody has brought the interface up."""
    return bool(int(text(host.sys / "class/net" / interface / "flags") or "0", 16) & IFF_UP)


def _rdma(host: Host) -> Iterator[Port]:
    """Yield RDMA ports, less those that are switched off.

    An unknown layout (no `ports`, no link layer) gives no port instead of an error.
    """
    for folder in sorted((host.sys / "class/infiniband").glob("*/ports/[0-9]*")):
        device = folder.parents[1].name
        names = tuple(paired(host, folder))
        ethernet = text(folder / "link_layer") != "InfiniBand"
        if _switched_off(host, folder, ethernet, names):
            continue
        entity = f"{host.entity}/nic/{entities.name(device)}/port/{entities.name(folder.name)}"
        yield Port(entity, folder, names[0] if names and ethernet else "", names)


def _switched_off(host: Host, folder: Path, ethernet: bool, names: tuple[str, ...]) -> bool:
    # On RoCE the phys_state is "Disabled" for a pulled cable too: the interface says it better.
    if ethernet:
        return bool(names) and not is_up(host, names[0])
    return text(folder / "phys_state").startswith("3:")


def paired(host: Host, folder: Path) -> list[str]:
    """Return the interfaces that are the same port; the first is the port's own.

    The driver names it beside its address table; without that, it is the interface of the same
    PCI device whose `dev_port` is the port's number less one.
    """
    net = host.sys / "class/net"
    named = text(folder / "gid_attrs/ndevs/0") or text(folder.parents[1] / "parent")
    if named and (net / named).exists():
        return [named]
    device = folder.parents[1] / "device"
    if not device.exists():
        return []
    own = device.resolve()
    return sorted(
        path.name
        for path in net.iterdir()
        if (path / "device").exists()
        and (path / "device").resolve() == own
        and int(text(path / "dev_port") or "0") == int(folder.name) - 1
    )


def text(path: Path) -> str:
    """Return the text of a file of sysfs; empty where there is none or the driver refuses."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
