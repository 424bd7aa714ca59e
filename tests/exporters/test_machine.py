from exporters import machine
from exporters.collector import Host
from tests.exporters.fakes import BOOT_ID


def test_the_captured_machine_is_described(captured: Host) -> None:
    found = machine.attributes(captured.proc)
    assert found["boot_id"] == BOOT_ID
    assert found["processor"].startswith("Intel(R) Xeon(R)")
    assert found["kernel"]


def test_what_is_not_known_is_left_out(empty: Host) -> None:
    assert set(machine.attributes(empty.proc)) == {"kernel", "architecture"}
