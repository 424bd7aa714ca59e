from collections.abc import Callable
from pathlib import Path

import pytest

from exporters.collector import Host
from exporters.nic.adapters import Adapters, generation
from tests.exporters.fakes import Everything, table
from tests.exporters.nic.test_interfaces import plain, rdma

Put = Callable[[str, str], None]
MLX = "nic/mlx5_0/port/1"
BRIDGE = "sys/devices/pci0000:00/0000:00:01.0"


def slot(put: Put, root: Path, bridge_width: str = "16") -> None:
    for place, lanes, speed in ((BRIDGE, bridge_width, "32.0"), (f"{BRIDGE}/card", "16", "64.0")):
        put(f"{place}/max_link_width", lanes)
        put(f"{place}/max_link_speed", f"{speed} GT/s PCIe")
    put(f"{BRIDGE}/card/current_link_width", "8")
    put(f"{BRIDGE}/card/current_link_speed", "16.0 GT/s PCIe")
    rdma(put, layer="InfiniBand")
    (root / "sys/class/infiniband/mlx5_0/device").symlink_to(root / BRIDGE / "card")


def test_the_link_is_held_against_card_and_slot(empty: Host, put: Put, tmp_path: Path) -> None:
    slot(put, tmp_path, bridge_width="8")
    found = table(Adapters(empty).read(Everything()))
    assert found == {
        ("nic_pcie_link_width", MLX): 8,
        ("nic_pcie_link_width_max", MLX): 8,
        ("nic_pcie_link_generation", MLX): 4,
        ("nic_pcie_link_generation_max", MLX): 5,
        ("node_nics_present", ""): 1,
    }


def test_a_node_without_fabric_does_not_count_and_one_that_lost_it_does(
    empty: Host, put: Put, tmp_path: Path
) -> None:
    own = Adapters(empty)
    count = ("node_nics_present", "")
    assert table(own.read(Everything()))[count] == "UNSUPPORTED"
    slot(put, tmp_path)
    assert table(own.read(Everything()))[count] == 1
    (tmp_path / "sys/class/infiniband/mlx5_0/device").unlink()
    assert table(own.read(Everything()))[count] == 0


def test_a_port_without_pci_files_does_not_support_them(empty: Host, put: Put) -> None:
    plain(put)
    found = table(Adapters(empty).read({"nic_pcie_link_width", "nic_pcie_link_generation"}))
    assert set(found.values()) == {"UNSUPPORTED"}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [("2.5 GT/s PCIe", 1), ("5 GT/s", 2), ("8.0 GT/s PCIe", 3), ("64.0 GT/s PCIe", 6)],
)
def test_generation_is_read_from_the_speed(tmp_path: Path, said: str, wanted: float) -> None:
    (tmp_path / "current_link_speed").write_text(said)
    assert generation(tmp_path, "current") == wanted
