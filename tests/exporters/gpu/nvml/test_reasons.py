import pytest

from exporters.gpu.nvml.reasons import CLEAN_READINGS, LASTING_READINGS, REASONS, Clocks
from forewarn.catalogue import CATALOGUE


def codes(clocks: Clocks, *masks: int, capped: bool = False) -> list[str]:
    happenings = [h for mask in masks for h in clocks.see(mask, capped)]
    return [happening.code.removeprefix("gpu.clock_event:") for happening in happenings]


@pytest.mark.parametrize("mask", [0x0, 0x1, 0x2, 0x10, 0x100, 0x113])
def test_a_normal_reason_is_no_event(mask: int) -> None:
    assert codes(Clocks(), mask, 0, mask) == []


@pytest.mark.parametrize(
    ("mask", "code"),
    [(0x20, "sw_thermal"), (0x40, "hw_thermal"), (0x80, "hw_power_brake"), (0x8, "hw_slowdown")],
)
def test_a_fault_begins_once(mask: int, code: str) -> None:
    assert codes(Clocks(), mask, mask, mask | 0x1) == [code]


def test_a_slowdown_is_told_by_the_bit_that_says_why() -> None:
    assert codes(Clocks(), 0x48) == ["hw_thermal"]
    assert codes(Clocks(), 0xC8) == ["hw_thermal", "hw_power_brake"]


def test_a_reason_ends_after_clean_readings_in_a_row() -> None:
    clocks = Clocks()
    almost = [0x40, *[0] * (CLEAN_READINGS - 1)]
    assert codes(clocks, *almost, *almost) == ["hw_thermal"]
    assert codes(clocks, 0) == ["hw_thermal_end"]
    assert codes(clocks, 0x40) == ["hw_thermal"]


def test_the_power_cap_at_full_limit_is_no_event() -> None:
    assert codes(Clocks(), *[0x4] * 50) == []


def test_the_power_cap_below_the_models_limit_is_an_event_once_it_lasts() -> None:
    clocks = Clocks()
    assert codes(clocks, *[0x4] * (LASTING_READINGS - 1), capped=True) == []
    assert codes(clocks, 0x4, 0x4, capped=True) == ["sw_power_cap"]


def test_each_cut_by_hardware_is_counted_once() -> None:
    clocks = Clocks()
    codes(clocks, 0x48, 0x40, 0x20, 0x8, 0x4, 0x80)
    assert clocks.cuts == 3


def test_every_reason_that_can_be_told_is_in_the_catalogue() -> None:
    text = CATALOGUE["gpu.clock_event"].help.en
    assert all(reason.name in text for reason in REASONS if reason.nature != "normal")
