from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from exporters.collector import Host
from exporters.nic.interfaces import Interfaces
from exporters.nic.ports import interfaces, ports
from tests.exporters.fakes import Everything, table
from tests.exporters.nic.test_interfaces import NONE, RDMA, plain, rdma

Put = Callable[[str, str], None]
RXE = Path(__file__).parents[1] / "fixtures/rxe-sysfs.txt"


def names(host: Host) -> list[str]:
    return [port.entity.removeprefix("node/n7/nic/") for port in ports(host)]


def test_an_interface_that_nobody_brought_up_is_left_out(empty: Host, put: Put) -> None:
    for name, flags in (("eth0", "0x1003"), ("eth1", "0x1002")):
        put(f"sys/class/net/{name}/device/vendor", "0x15b3")
        put(f"sys/class/net/{name}/flags", flags)
    assert interfaces(empty) == ["eth0"]


def test_virtual_interfaces_are_read_if_asked_for(empty: Host, put: Put) -> None:
    for name in ("bond0", "veth1", "lo"):
        put(f"sys/class/net/{name}/flags", "0x1003")
    assert interfaces(empty) == []
    assert interfaces(msgspec.structs.replace(empty, interfaces=("bond*",))) == ["bond0"]


def test_without_a_named_interface_the_same_pci_device_pairs(
    empty: Host, put: Put, tmp_path: Path
) -> None:
    for port, name in ((1, "ens1f0"), (2, "ens1f1")):
        plain(put, name)
        (tmp_path / f"sys/class/net/{name}/device/vendor").unlink()
        (tmp_path / f"sys/class/net/{name}/device").rmdir()
        put(f"sys/class/net/{name}/dev_port", str(port - 1))
        put(f"sys/class/infiniband/mlx5_0/ports/{port}/state", "4: ACTIVE")
    put("sys/devices/pci0000:00/0000:1a:00.0/vendor", "0x15b3")
    device = tmp_path / "sys/devices/pci0000:00/0000:1a:00.0"
    for place in ("net/ens1f0", "net/ens1f1", "infiniband/mlx5_0"):
        (tmp_path / "sys/class" / place / "device").symlink_to(device)
    assert names(empty) == ["mlx5_0/port/1", "mlx5_0/port/2"]
    assert [port.interface for port in ports(empty)] == ["ens1f0", "ens1f1"]


def test_an_ipoib_interface_is_no_port_of_its_own(empty: Host, put: Put) -> None:
    plain(put, "ib0")
    rdma(put, layer="InfiniBand")
    put(f"{RDMA}/gid_attrs/ndevs/0", "ib0")
    assert names(empty) == ["mlx5_0/port/1"]
    assert ports(empty)[0].interface == ""


@pytest.mark.parametrize(
    ("layer", "phys", "flags", "kept"),
    [
        ("InfiniBand", "3: Disabled", "0x1003", False),
        ("InfiniBand", "2: Polling", "0x1003", True),
        ("Ethernet", "3: Disabled", "0x1003", True),  # mlx5 says so of a pulled cable
        ("Ethernet", "3: Disabled", "0x1002", False),
    ],
)
def test_a_port_that_is_switched_off_is_left_out(
    empty: Host, put: Put, layer: str, phys: str, flags: str, kept: bool
) -> None:
    plain(put)
    rdma(put, "1: DOWN", layer)
    put(f"{RDMA}/phys_state", phys)
    put(f"{RDMA}/gid_attrs/ndevs/0", "eth0")
    put("sys/class/net/eth0/flags", flags)
    assert ("mlx5_0/port/1" in names(empty)) is kept


def test_soft_roce_as_captured(empty: Host, put: Put) -> None:
    """A port of rxe has no `counters`; its interface is the one it was made on."""
    plain(put, "va")
    for line in RXE.read_text().splitlines():
        path, _, value = line.removeprefix("./").partition("=")
        put(f"sys/class/infiniband/rxe0/{path}", value)
    found = table(Interfaces(empty, NONE).read(Everything()))
    port = "nic/rxe0/port/1"
    assert {entity for _, entity in found} == {port}
    assert found["nic_rx_out_of_sequence_packets_total", port] == 0
    assert found["nic_link_speed_bytes_per_second", port] == 1.25e9
    assert found["nic_rx_bytes_total", port] == 7
    assert found["nic_tx_wait_ticks_total", port] == "UNSUPPORTED"
