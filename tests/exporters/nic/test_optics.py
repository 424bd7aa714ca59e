import errno
from collections.abc import Callable

import pytest

from exporters.collector import Host
from exporters.nic.optics import Optic, Optics, parse
from tests.exporters.fakes import Everything, table
from tests.exporters.nic.test_interfaces import plain

Put = Callable[[str, str], None]
PORT = "nic/eth0/port/1"


def memory(size: int, kind: int, words: dict[int, int]) -> bytes:
    """Lay out a module's memory: 16-bit numbers by their place."""
    held = bytearray(size)
    held[0] = kind
    for at, value in words.items():
        held[at : at + 2] = (value & 0xFFFF).to_bytes(2, "big")
    return bytes(held)


QSFP28 = memory(
    640, 0x11,
    {22: 45 * 256 + 128, 26: 33_000, 34: 9_000, 36: 9_100, 38: 8_900, 40: 400,
     50: 10_000, 52: 10_000, 54: 10_000, 56: 10_000, 562: 500},
)  # fmt: skip
COPPER = memory(640, 0x11, {})
CMIS = memory(512, 0x18, {14: -5 * 256, 16: 32_900})
SFP = memory(512, 0x03, {92: 0x6000, 256 + 34: 100, 256 + 96: 30 * 256, 256 + 98: 33_000,
                         256 + 102: 5_000, 256 + 104: 4_000})  # fmt: skip


class Driver:
    def __init__(self, answer: bytes | OSError) -> None:
        self.answer = answer

    def module(self, interface: str) -> tuple[int, bytes]:
        if isinstance(self.answer, OSError):
            raise self.answer
        return 3, self.answer


def test_light_is_read_for_each_lane(empty: Host, put: Put) -> None:
    plain(put)
    found = table(Optics(empty, Driver(QSFP28)).read(Everything()))
    assert found["nic_optical_temperature_celsius", PORT] == 45.5
    assert found["nic_optical_voltage_volts", PORT] == pytest.approx(3.3)
    assert found["nic_optical_rx_power_watts", f"{PORT}/lane/1"] == pytest.approx(9e-4)
    assert found["nic_optical_rx_power_watts", f"{PORT}/lane/4"] == pytest.approx(4e-5)
    assert found["nic_optical_rx_power_alarm_watts", f"{PORT}/lane/4"] == pytest.approx(5e-5)
    assert found["nic_optical_tx_power_watts", f"{PORT}/lane/2"] == pytest.approx(1e-3)


def test_a_module_of_one_lane_speaks_for_the_port(empty: Host, put: Put) -> None:
    plain(put)
    found = table(Optics(empty, Driver(SFP)).read({"nic_optical_rx_power_watts"}))
    assert found == {("nic_optical_rx_power_watts", PORT): pytest.approx(4e-4)}


def test_a_newer_module_gives_temperature_and_voltage() -> None:
    assert parse(CMIS) == Optic(-5.0, pytest.approx(3.29))  # type: ignore[arg-type]


@pytest.mark.parametrize("held", [COPPER, b"", memory(512, 0x77, {}), QSFP28[:64], SFP[:256]])
def test_a_module_that_measures_nothing_does_not_support_it(
    empty: Host, put: Put, held: bytes
) -> None:
    plain(put)
    found = table(Optics(empty, Driver(held)).read(Everything()))
    assert set(found.values()) == {"UNSUPPORTED"}
    assert {entity for _, entity in found} == {PORT}


@pytest.mark.parametrize(
    ("number", "outcome"), [(errno.EOPNOTSUPP, "UNSUPPORTED"), (errno.EIO, "FAILED")]
)
def test_a_driver_that_cannot_is_told_from_one_that_failed(
    empty: Host, put: Put, number: int, outcome: str
) -> None:
    plain(put)
    found = table(Optics(empty, Driver(OSError(number, "x"))).read(Everything()))
    assert set(found.values()) == {outcome}
