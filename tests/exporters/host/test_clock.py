import pytest

from exporters.collector import Host
from exporters.host.clock import Clock, ClockState, adjtimex
from tests.exporters.fakes import Everything, table

STA_PLL, STA_UNSYNC, STA_NANO = 0x0001, 0x0040, 0x2000


def read(host: Host, clock: ClockState) -> dict[tuple[str, str], float | str]:
    return table(Clock(host, lambda: clock).read(Everything()))


@pytest.mark.parametrize(("status", "offset"), [(STA_PLL, -1500), (STA_PLL | STA_NANO, -1500000)])
def test_offset_is_in_seconds_in_either_unit(captured: Host, status: int, offset: int) -> None:
    assert read(captured, ClockState(0, status, offset, 2000)) == {
        ("node_clock_offset_seconds", ""): -0.0015,
        ("node_clock_error_seconds", ""): 0.002,
        ("node_clock_synchronized", ""): 1.0,
    }


@pytest.mark.parametrize("clock", [ClockState(5, 0, 0, 16000000), ClockState(0, STA_UNSYNC, 0, 0)])
def test_without_synchronisation_there_is_no_offset(captured: Host, clock: ClockState) -> None:
    found = read(captured, clock)
    assert found["node_clock_offset_seconds", ""] == "UNSUPPORTED"
    assert found["node_clock_synchronized", ""] == 0


def test_the_kernel_of_this_machine_answers() -> None:
    clock = adjtimex()
    assert clock.state in range(6)
    assert clock.maxerror >= 0
