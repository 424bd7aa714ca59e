"""Absolute floors speak from the first sample."""

import pytest

from tests.detector.feed import Bench

NODE, GPU = "node/n1", "node/n1/gpu/0000:1a:00.0"
PORT = "node/n1/nic/mlx5_0/port/1"
CORE, LIMIT = ("gpu_temperature_celsius", GPU), ("gpu_temperature_limit_celsius", GPU)


def _first(bench: Bench, values, seconds=3):
    return bench.run(range(seconds), values) + bench.engine.flush()


@pytest.mark.parametrize(
    ("pair", "value", "movement"),
    [
        (("node_filesystem_used_ratio", "node/n1/mount/%2F"), 0.97, "above"),
        (("node_clock_offset_seconds", NODE), -0.2, "below"),
        (("node_clock_offset_seconds", NODE), 0.2, "above"),
        (("gpu_memory_temperature_celsius", GPU), 99.0, "above"),
        (("nic_optical_snr_decibels", PORT), 9.0, "below"),
        (("gpu_row_remap_pending", GPU), 1.0, "nonzero"),
        (("node_filesystem_read_only", "node/n1/mount/%2F"), 1.0, "nonzero"),
        (("gpu_ecc_sram_uncorrected_lifetime_errors_total", GPU), 5.0, "above"),
    ],
)
def test_limit_is_checked_from_the_first_sample(pair, value, movement):
    found = _first(Bench(), {pair: value}, 4)
    assert (found[0].signal, found[0].movement, found[0].severity) == (pair[0], movement, "major")
    assert found[0].observed == value


def test_device_limit_guards_its_own_signal():
    found = _first(Bench(), {CORE: 88.0, LIMIT: 87.0})
    assert [(f.signal, f.movement) for f in found[:1]] == [(CORE[0], "above")]
    assert found[0].high == 87.0


def test_below_the_device_limit_is_no_finding():
    assert _first(Bench(), {CORE: 80.0, LIMIT: 87.0}) == []


def test_degraded_pcie_width_is_below_its_maximum():
    pairs = {("gpu_pcie_link_width", GPU): 8.0, ("gpu_pcie_link_width_max", GPU): 16.0}
    found = _first(Bench(), pairs)
    assert [(f.signal, f.movement) for f in found[:1]] == [("gpu_pcie_link_width", "below")]


def test_rate_limit_of_a_counter_speaks_of_its_rate():
    bench = Bench()
    drops = ("nic_tx_discards_total", PORT)
    found = []
    for second in range(6):
        found += bench.one(second, {drops: 200.0 * second})
    assert [(f.signal, f.movement) for f in found[:1]] == [(drops[0], "above")]
    assert found[0].observed == pytest.approx(200.0)


def test_port_that_never_was_up_is_no_finding():
    assert _first(Bench(), {("nic_link_up", PORT): 0.0}) == []


def test_port_that_went_down_is_zero():
    bench = Bench()
    bench.run(range(5), {("nic_link_up", PORT): 1.0})
    found = bench.run(range(5, 8), {("nic_link_up", PORT): 0.0})
    assert [(f.signal, f.movement) for f in found] == [("nic_link_up", "zero")]


@pytest.mark.parametrize(("bits", "told"), [(0x1, False), (0x4, False), (0x48, True), (0x84, True)])
def test_normal_clock_reasons_are_no_fault(bits, told):
    found = _first(Bench(), {("gpu_clock_event_reasons", GPU): float(bits)})
    assert bool(found) is told


def test_limit_finding_closes_when_it_is_kept_again():
    bench = Bench()
    bench.run(range(5), {CORE: 88.0, LIMIT: 87.0})
    found = bench.run(range(5, 120), {CORE: 60.0, LIMIT: 87.0})
    assert [f.closed_at_unix_nano is not None for f in found] == [True]
