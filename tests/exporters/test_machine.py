from collections.abc import Callable

from exporters import machine
from exporters.collector import Host
from tests.exporters.fakes import BOOT_ID


def test_the_captured_machine_is_described(captured: Host) -> None:
    found = machine.attributes(captured)
    assert found["boot_id"] == BOOT_ID
    assert found["processor"].startswith("Intel(R) Xeon(R)")
    assert found["kernel"]


def test_maker_and_model_come_from_the_firmware(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    put("sys/class/dmi/id/sys_vendor", "Supermicro\n")
    put("sys/class/dmi/id/product_name", "SYS-821GE-TNHR\n")
    found = machine.attributes(empty)
    assert (found["vendor"], found["model"]) == ("Supermicro", "SYS-821GE-TNHR")


def test_what_is_not_known_is_left_out(empty: Host) -> None:
    assert set(machine.attributes(empty)) == {"kernel", "architecture"}
