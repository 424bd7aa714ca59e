from collections.abc import Callable

from exporters.collector import Host
from exporters.nic.interfaces import Interfaces, interfaces
from tests.exporters.fakes import Everything, table

PORT = "nic/eth0/port/1"


def test_captured_machine_has_one_adapter_and_no_loopback(captured: Host) -> None:
    found = table(Interfaces(captured).read(Everything()))
    assert {entity for _, entity in found} == {PORT}
    assert found["nic_link_up", PORT] == 1
    assert float(found["nic_rx_bytes_total", PORT]) > 0


def test_speed_of_a_virtual_link_is_not_supported(captured: Host) -> None:
    found = table(Interfaces(captured).read({"nic_link_speed_bytes_per_second"}))
    assert found == {("nic_link_speed_bytes_per_second", PORT): "UNSUPPORTED"}


def test_speed_is_in_bytes(empty: Host, put: Callable[[str, str], None]) -> None:
    put("sys/class/net/eth0/device/vendor", "0x15b3")
    put("sys/class/net/eth0/flags", "0x1003")
    put("sys/class/net/eth0/speed", "400000\n")
    found = table(Interfaces(empty).read({"nic_link_speed_bytes_per_second"}))
    assert found == {("nic_link_speed_bytes_per_second", PORT): 50e9}


def test_an_interface_that_nobody_brought_up_is_left_out(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    for name, flags in (("eth0", "0x1003"), ("eth1", "0x1002")):
        put(f"sys/class/net/{name}/device/vendor", "0x15b3")
        put(f"sys/class/net/{name}/flags", flags)
    assert interfaces(empty.sys / "class/net") == ["eth0"]
