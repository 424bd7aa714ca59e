"""What a healthy, a hot, a slow and a worn GPU look like to the agent, and to detect."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from exporters.gpu.nvml.fields import CRC_DATA, CRC_FLIT, REPLAY, Field
from exporters.gpu.nvml.unit import SIGNALS
from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE, Kind
from tests.nvml.bench import MINUTE, Bench, Seen
from tests.nvml.standin import LINKS, SLOTS, Standin

FIRST, SECOND = SLOTS[0], SLOTS[1]
HW_THERMAL = 0x48
Start = Callable[..., Bench]


def test_every_signal_is_read_of_every_gpu(agent: Bench) -> None:
    seen = agent.tick()
    for slot in SLOTS:
        lacking = {s for s in SIGNALS if seen.of(slot, s) is None}
        assert lacking == {s for s in SIGNALS if s.startswith("gpu_slice_")}  # no MIG here
    assert len(seen.frames) == 1


def test_readings_carry_the_catalogues_units(agent: Bench) -> None:
    seen = agent.tick()
    wanted = {
        "gpu_utilization_ratio": 0.97, "gpu_memory_used_bytes": 60 * 2**30,
        "gpu_memory_used_ratio": 0.75, "gpu_temperature_celsius": 55, "gpu_power_watts": 310,
        "gpu_temperature_margin_celsius": 32, "gpu_temperature_limit_celsius": 87,
        "gpu_core_clock_hertz": 1.98e9, "gpu_energy_joules_total": 5000,
        "gpu_throttle_power_seconds_total": 2.5, "gpu_tensor_active_ratio": 0.45,
        "gpu_pcie_tx_bytes_per_second": 3 * 2**20, "gpu_pcie_link_width": 16,
        "scale_up_tx_bytes_per_second": 2000 * 2**20, "scale_up_links_up": LINKS,
        "scale_up_links_expected": LINKS, "scale_up_fabric_state": 3, "gpu_health_status": 1,
        "gpu_memory_temperature_celsius": 55,
    }  # fmt: skip
    found = {signal: seen.of(FIRST, signal) for signal in wanted}
    assert found == {signal: pytest.approx(value) for signal, value in wanted.items()}


def test_readings_stand_at_entities_of_their_kind(agent: Bench) -> None:
    for signal, entity in agent.tick().values():
        own = entities.check(f"node/n7/{entity}" if entity else "node/n7")
        kind = CATALOGUE[signal].entity
        assert kind in {entities.kind(up) for up in (own, *entities.ancestors(own))}


def test_only_what_is_due_is_asked_for(agent: Bench, standin: Standin) -> None:
    agent.tick()
    before = standin.gpu(0).calls
    seen = agent.tick(1)
    own = {signal for signal, entity in seen.values() if entity == f"gpu/{FIRST}"}
    assert own == {s for s in SIGNALS if CATALOGUE[s].period_seconds == 1}
    # Field values, utilisation, temperature, margin, clock, reasons, GPM sample.
    assert standin.gpu(0).calls - before == 7


def test_the_first_reading_of_a_rate_is_not_yet_due(
    start: Start, library: Path, standin: Standin
) -> None:
    bench = start(library, standin)
    assert bench.tick().of(FIRST, "gpu_core_active_ratio") == "NOT_DUE"
    assert bench.tick(1).of(FIRST, "gpu_core_active_ratio") == pytest.approx(0.9)


def test_a_hot_gpu_reads_hot_and_its_twins_do_not(agent: Bench, standin: Standin) -> None:
    standin.heat(1, 86)
    seen = agent.tick(1)
    assert seen.of(SECOND, "gpu_temperature_celsius") == 86
    assert seen.of(SECOND, "gpu_temperature_margin_celsius") == 1
    assert seen.of(FIRST, "gpu_temperature_celsius") == 55


def test_throttling_begins_and_ends_as_events(agent: Bench, standin: Standin) -> None:
    standin.throttle(1, HW_THERMAL)
    begun = agent.tick(10)
    assert begun.of(SECOND, "gpu_clock_event_reasons") == HW_THERMAL
    assert begun.of(SECOND, "gpu_core_clock_hertz") == 6e8
    assert begun.codes() == [(SECOND, "gpu.clock_event:hw_thermal")]
    assert begun.events[0].severity == "major"
    assert begun.of(SECOND, "gpu_throttle_events_total") == 1
    assert agent.tick(1).codes() == []
    standin.throttle(1, 0)
    ended = agent.until(lambda seen: seen.events, tries=20)
    assert ended.codes() == [(SECOND, "gpu.clock_event:hw_thermal_end")]
    assert ended.events[0].severity == "info"


def test_corrected_and_uncorrected_errors_are_told_apart_by_place(
    agent: Bench, standin: Standin
) -> None:
    standin.set(0, Field.ECC_SBE_VOL_TOTAL, 7)
    standin.set(0, Field.ECC_SBE_VOL_DEV, 7)
    standin.set(1, Field.ECC_DBE_VOL_TOTAL, 3)
    standin.gpu(1).sram[4] = 3  # volatile, uncorrected, found by SEC-DED
    seen = agent.tick(10)
    of_first = {s: v for (s, e), v in seen.values().items() if e == f"gpu/{FIRST}" and "ecc" in s}
    assert {s for s, v in of_first.items() if v == 7} == {
        "gpu_ecc_corrected_errors_total", "gpu_ecc_dram_corrected_errors_total",
    }  # fmt: skip
    assert seen.of(SECOND, "gpu_ecc_uncorrected_errors_total") == 3
    assert seen.of(SECOND, "gpu_ecc_sram_uncorrected_errors_total") == 3
    assert seen.of(SECOND, "gpu_ecc_dram_uncorrected_errors_total") == 0


def test_remapped_rows_and_spares_are_read(agent: Bench, standin: Standin) -> None:
    standin.set(0, Field.REMAPPED_UNC, 2)
    standin.set(0, Field.REMAPPED_PENDING, 1)
    standin.gpu(0).histogram[3], standin.gpu(0).histogram[4] = 5, 1
    seen = agent.tick()
    assert seen.of(FIRST, "gpu_row_remap_uncorrected_rows_total") == 2
    assert seen.of(FIRST, "gpu_row_remap_pending") == 1
    assert seen.of(FIRST, "gpu_row_remap_banks_low_spares") == 5
    assert seen.of(FIRST, "gpu_row_remap_banks_without_spares") == 1


def test_a_recovery_action_is_an_event_when_it_changes(agent: Bench, standin: Standin) -> None:
    standin.set(0, Field.GET_GPU_RECOVERY_ACTION, 1)
    asked = agent.tick(10)
    assert asked.of(FIRST, "gpu_health_status") == 0
    assert asked.codes() == [(FIRST, "gpu.recovery_action:reset")]
    assert agent.tick(10).codes() == []
    standin.set(0, Field.GET_GPU_RECOVERY_ACTION, 0)
    assert agent.tick(10).codes() == [(FIRST, "gpu.recovery_action:none")]


def test_the_power_cap_is_an_event_only_below_the_models_limit(
    agent: Bench, standin: Standin
) -> None:
    standin.gpu(0).limit = 400_000
    agent.tick()
    for number in (0, 1):
        standin.throttle(number, 0x4)
    codes = [code for _ in range(15) for code in agent.tick(1).codes()]
    assert codes == [(FIRST, "gpu.clock_event:sw_power_cap")]


def test_errors_of_one_link_are_its_own_and_the_gpus(agent: Bench, standin: Standin) -> None:
    standin.set(0, Field.NVLINK_ERROR_DL_CRC, 40, scope=5)
    standin.set(0, Field.NVLINK_ERROR_DL_CRC, 2, scope=6)
    seen = agent.tick(10)
    assert seen.of(f"{FIRST}/link/5", "scale_up_crc_errors_total") == 40
    assert seen.of(f"{FIRST}/link/4", "scale_up_crc_errors_total") == 0
    assert seen.of(FIRST, "scale_up_crc_errors_total") == 42


def test_a_link_that_goes_down_is_counted(agent: Bench, standin: Standin) -> None:
    standin.set(0, Field.NVLINK_GET_STATE, 0, scope=5)
    seen = agent.tick()
    assert seen.of(FIRST, "scale_up_links_up") == LINKS - 1
    assert seen.of(FIRST, "scale_up_links_expected") == LINKS
    assert seen.of(FIRST, "scale_up_link_downs_total") == 1
    assert seen.of(SECOND, "scale_up_link_downs_total") == 0


def test_links_that_lead_nowhere_are_not_expected_up(
    start: Start, library: Path, standin: Standin
) -> None:
    standin.gpu(0).fabric = 0
    standin.forget(0, Field.NVSWITCH_CONNECTED_LINK_COUNT)
    for link in range(LINKS):
        standin.set(0, Field.NVLINK_GET_STATE, int(link < 4), scope=link)
    seen = start(library, standin).tick()
    assert seen.of(FIRST, "scale_up_links_up") == 4
    assert seen.of(FIRST, "scale_up_links_expected") == 4


def test_links_of_an_older_gpu_are_read_from_their_own_fields(
    start: Start, library: Path, standin: Standin
) -> None:
    for field in (Field.NVLINK_ERROR_DL_CRC, Field.NVLINK_ERROR_DL_REPLAY):
        standin.forget(0, field)
    standin.set(0, Field.NVLINK_LINK_COUNT, 12)
    for link in range(12):
        standin.set(0, CRC_FLIT[link], link)
        standin.set(0, CRC_DATA[link], 100)
        standin.set(0, REPLAY[link], 1)
    seen = start(library, standin).tick()
    assert seen.of(f"{FIRST}/link/11", "scale_up_crc_errors_total") == 111
    assert seen.of(FIRST, "scale_up_crc_errors_total") == 66 + 1200
    assert seen.of(FIRST, "scale_up_replays_total") == 12


def test_links_of_a_newer_gpu_tell_their_bit_error_ratio(
    start: Start, library: Path, standin: Standin
) -> None:
    for link in range(LINKS):
        standin.set(0, Field.NVLINK_COUNT_EFFECTIVE_BER, 0x3 << 8 | 15 - (link == 7), scope=link)
    seen = start(library, standin).tick()
    ratio = seen.of(f"{FIRST}/link/7", "scale_up_bit_error_ratio")
    assert isinstance(ratio, float)
    assert math.isclose(ratio, 3e-14)
    assert seen.of(FIRST, "scale_up_bit_error_ratio") == ratio


def test_slices_are_read_where_mig_is_on(agent: Bench, standin: Standin) -> None:
    standin.slice(0, {1: 40 << 30, 5: 10 << 30})
    standin.use(0, {4711: 5})
    agent.tick()
    seen = agent.tick()
    assert seen.of(FIRST, "gpu_slices_allocated") == 2
    assert seen.of(f"{FIRST}/mig/5", "gpu_memory_total_bytes") == 10 << 30
    assert seen.of(f"{FIRST}/mig/5", "gpu_slice_memory_used_ratio") == 0.25
    assert seen.of(f"{FIRST}/mig/1", "gpu_slice_utilization_ratio") == pytest.approx(0.7)
    assert seen.of(f"{FIRST}/mig/1", "gpu_core_active_ratio") == pytest.approx(0.6)
    assert seen.of(SECOND, "gpu_slices_allocated") == 0
    standin.slice(0, {})
    assert agent.tick().of(f"{FIRST}/mig/5", "gpu_memory_total_bytes") is None


def test_the_inventory_tells_what_is_in_each_slot(
    start: Start, library: Path, standin: Standin
) -> None:
    item = start(library, standin).tick().items[f"node/n7/gpu/{FIRST}"]
    assert item.attributes == {
        "vendor": "nvidia", "model": "NVIDIA H100 80GB HBM3", "pci": FIRST, "index": "0",
        "uuid": "GPU-00000000-aaaa-bbbb-cccc-000000000000", "serial": "1650000000000",
        "vbios": "96.00.74.00.01", "driver": "580.65.06",
    }  # fmt: skip
    assert set(item.collects["nvml"]) >= {*CATALOGUE_GPU, "nvidia.xid", "gpu.clock_event"}
    assert "gpu_retired_pages_corrected_total" in item.unsupported


CATALOGUE_GPU = {s for s in SIGNALS if not s.startswith("gpu_slice_")}


def test_every_signal_is_a_metric_of_the_catalogue() -> None:
    assert all(CATALOGUE[signal].kind is not Kind.EVENT for signal in SIGNALS)


def test_a_new_xid_is_an_event_once_and_in_order(agent: Bench, standin: Standin) -> None:
    for code in (31, 31, 79):
        standin.xid(1, code)
    events: list[tuple[str, str, str]] = []

    def three(seen: Seen) -> bool:
        events.extend((e.entity.rpartition("/")[2], e.code, e.severity) for e in seen.events)
        return len(events) >= 3

    agent.until(three)
    assert events == [
        (SECOND, "nvidia.xid:31", "major"),
        (SECOND, "nvidia.xid:31", "major"),
        (SECOND, "nvidia.xid:79", "critical"),
    ]


def test_the_binding_is_imported_only_where_the_library_is(
    start: Start, library: Path, standin: Standin
) -> None:
    assert not start(None, None).tick(MINUTE).binding
    assert start(library, standin).tick(MINUTE).binding
