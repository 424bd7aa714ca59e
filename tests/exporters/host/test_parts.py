from collections.abc import Callable

from exporters.collector import Host
from exporters.host import parts
from exporters.host.kernel_rules import Hit


def test_a_pci_device_is_named_by_its_interface(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    put("sys/bus/pci/devices/0000:5e:00.0/net/ens5/flags", "0x1003")
    hit = Hit("nic.fw_health:compromised", "critical", "nic_slot", "0000:5e:00.0")
    assert parts.entity(empty, hit) == "node/n7/nic/ens5/port/1"


def test_accelerators_are_found_without_a_driver(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    rows = (
        ("0000:1a:00.0", "0x10de", "0x030200"),
        ("0000:1b:00.0", "0x10de", "0x068000"),  # an NVSwitch is a bridge
        ("0000:1c:00.0", "0x15b3", "0x020000"),
    )
    for slot, vendor, kind in rows:
        put(f"sys/bus/pci/devices/{slot}/vendor", vendor + "\n")
        put(f"sys/bus/pci/devices/{slot}/class", kind + "\n")
    assert parts.gpus(empty) == ["0000:1a:00.0"]


def test_what_kernel_lines_can_speak_of_is_known_beforehand(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    put("sys/bus/pci/devices/0000:1a:00.0/vendor", "0x10de\n")
    put("sys/bus/pci/devices/0000:1a:00.0/class", "0x030200\n")
    put("sys/block/nvme0n1/size", "1\n")
    for name, driver in (("ens5", "mlx5_core"), ("eth0", "virtio_net")):
        put(f"sys/bus/drivers/{driver}/uevent", "")
        put(f"sys/class/net/{name}/device/vendor", "")
        (empty.sys / f"class/net/{name}/device/driver").symlink_to(
            empty.sys / "bus/drivers" / driver
        )
    found = dict(parts.watched(empty))
    assert list(found) == [
        "node/n7", "node/n7/gpu/0000:1a:00.0", "node/n7/nic/ens5/port/1", "node/n7/disk/nvme0n1",
    ]  # fmt: skip
    assert found["node/n7/disk/nvme0n1"] == ("nvme.event",)
    assert "node.boot_id" in found["node/n7"]


def test_a_line_about_an_interface_is_about_its_rdma_port(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    put("sys/class/net/ens5/device/vendor", "")
    put("sys/class/net/ens5/flags", "0x1003")
    put("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE")
    put("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "ens5")
    hit = Hit("nic.link_state:down", "major", "nic", "ens5")
    assert parts.entity(empty, hit) == "node/n7/nic/mlx5_0/port/1"
