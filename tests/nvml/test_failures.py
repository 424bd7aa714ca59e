"""What fails costs only itself and is told: lost, swapped, lacking, blocked GPUs; no driver."""

from collections.abc import Callable
from pathlib import Path

import pytest

from exporters.gpu.nvml.fields import Field
from exporters.gpu.nvml.unit import SIGNALS
from tests.nvml.bench import MINUTE, Bench, Seen
from tests.nvml.standin import DRIVER_NOT_LOADED, SLOTS, UNKNOWN, Standin
from tests.nvml.state import ALL_LINKS

FIRST, SECOND = SLOTS[0], SLOTS[1]
OTHERS = SLOTS[1:]
TEMPERATURE = "gpu_temperature_celsius"
Start = Callable[..., Bench]


def _fine(seen: Seen, slots: tuple[str, ...] = OTHERS) -> bool:
    """Say whether these GPUs have their reading in every frame of a tick."""
    return bool(seen.frames) and all(
        isinstance(frame.get((TEMPERATURE, f"gpu/{slot}")), float)
        for frame in seen.frames
        for slot in slots
    )


def test_a_lost_gpu_fails_alone_and_is_not_counted(agent: Bench, standin: Standin) -> None:
    agent.tick()
    standin.lose(0)
    agent.tick()
    seen = agent.tick()
    own = {v for (s, e), v in seen.values().items() if e == f"gpu/{FIRST}" and s in SIGNALS}
    assert own == {"FAILED"}
    assert _fine(seen)
    assert seen.values()["node_gpus_present", ""] == 7
    assert seen.values()["node_gpus_expected", ""] == 8
    assert seen.values()["agent_collector_success", f"gpu/{FIRST}/agent/nvml"] == 0
    assert seen.values()["agent_collector_success", f"gpu/{SECOND}/agent/nvml"] == 1


def test_a_lost_gpu_is_logged_once_and_again_when_it_is_back(
    agent: Bench, standin: Standin
) -> None:
    standin.lose(0)
    log = [line for _ in range(4) for line in agent.tick(1).log]
    assert len(log) == 1
    assert f"collector nvml:{FIRST} failed: the GPU is lost (" in log[0]
    standin.lose(0, 0)
    seen = agent.tick()
    assert seen.log == [f"INFO collector nvml:{FIRST} works again"]
    assert _fine(seen, SLOTS)


def test_a_lost_gpu_still_tells_its_last_xid(agent: Bench, standin: Standin) -> None:
    agent.tick()
    standin.lose(0)
    standin.xid(0, 79)
    assert agent.until(lambda seen: seen.events).codes() == [(FIRST, "nvidia.xid:79")]


def test_the_age_of_the_last_good_reading_grows_while_a_gpu_is_lost(
    agent: Bench, standin: Standin
) -> None:
    name = "gpu_last_reading_age_seconds"
    standin.lose(0)
    ages = [agent.tick(10).of(FIRST, name) for _ in range(3)]
    assert all(isinstance(age, float) for age in ages)
    assert ages == sorted(ages)  # type: ignore[type-var]
    assert len(set(ages)) == 3


def test_an_unknown_error_fails_what_was_asked_and_nothing_else(
    agent: Bench, standin: Standin
) -> None:
    standin.lose(0, UNKNOWN)
    seen = agent.tick(1)
    assert seen.of(FIRST, TEMPERATURE) == "FAILED"
    assert seen.of(FIRST, "gpu_power_watts") == "FAILED"
    assert _fine(seen)


def test_a_swapped_card_is_another_item_in_the_same_slot(agent: Bench, standin: Standin) -> None:
    standin.set(0, Field.ECC_SBE_VOL_TOTAL, 900)
    agent.tick()
    standin.swap(0, "GPU-99999999-aaaa-bbbb-cccc-000000000000", "1651111111111")
    standin.set(0, Field.ECC_SBE_VOL_TOTAL, 0)
    seen = agent.tick()
    item = seen.items[f"node/n7/gpu/{FIRST}"]
    assert item.attributes["uuid"] == "GPU-99999999-aaaa-bbbb-cccc-000000000000"
    assert item.attributes["serial"] == "1651111111111"
    assert seen.of(FIRST, "gpu_core_active_ratio") == "NOT_DUE"  # nothing of the old one is kept
    assert set(seen.items) == {f"node/n7/gpu/{FIRST}"}


def test_lacking_functions_and_fields_are_unsupported_and_not_asked_again(
    agent: Bench, standin: Standin
) -> None:
    standin.remove(0, "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetRowRemapperHistogram")
    standin.forget(0, Field.MEMORY_TEMP)
    seen = agent.tick()
    gone = {
        "gpu_utilization_ratio", "gpu_memory_controller_busy_ratio",
        "gpu_row_remap_banks_low_spares", "gpu_row_remap_banks_without_spares",
        "gpu_memory_temperature_celsius",
    }  # fmt: skip
    assert {s for s in gone if seen.of(FIRST, s) == "UNSUPPORTED"} == gone
    assert seen.of(FIRST, TEMPERATURE) == 55
    assert set(seen.items[f"node/n7/gpu/{FIRST}"].unsupported) >= gone
    assert seen.log == []
    agent.tick(1)
    before = standin.gpu(0).calls
    assert agent.tick(1).of(FIRST, "gpu_utilization_ratio") == "UNSUPPORTED"
    assert standin.gpu(0).calls - before == 6  # one less than a whole GPU takes


def test_an_old_driver_is_read_by_what_it_has(
    start: Start, old_library: Path, standin: Standin
) -> None:
    standin.gpu(0).slowdown = 88
    standin.forget(0, Field.POWER_AVERAGE)
    standin.set(0, Field.NVLINK_THROUGHPUT_DATA_TX, 1000, scope=ALL_LINKS)
    bench = start(old_library, standin)
    bench.tick()
    standin.set(0, Field.NVLINK_THROUGHPUT_DATA_TX, 9000, scope=ALL_LINKS)
    seen = bench.tick()
    sent = seen.of(FIRST, "scale_up_tx_bytes_per_second")
    assert isinstance(sent, float)
    assert sent > 0
    assert seen.of(FIRST, TEMPERATURE) == 55
    assert seen.of(FIRST, "gpu_temperature_limit_celsius") == 88
    assert seen.of(FIRST, "gpu_temperature_margin_celsius") == 33
    assert seen.of(FIRST, "gpu_memory_used_bytes") == 60 << 30
    assert seen.of(FIRST, "gpu_power_watts") == 310
    assert seen.of(FIRST, "gpu_clock_event_reasons") == 0
    assert seen.of(FIRST, "gpu_pcie_tx_bytes_per_second") == 0  # a rate of two field values
    for signal in ("gpu_core_active_ratio", "gpu_memory_reserved_bytes", "scale_up_fabric_state"):
        assert seen.of(FIRST, signal) == "UNSUPPORTED"


@pytest.fixture
def impatient(start: Start, library: Path, standin: Standin) -> Bench:
    """An agent that waits 2 s for a GPU before it sends the frame, and gives it up after 5 s."""
    bench = start(library, standin, CARD_DEADLINE_SECONDS="5", GRACE_SECONDS="2")
    bench.tick()
    standin.watched()
    return bench


def test_a_blocked_call_costs_only_its_gpu(impatient: Bench, standin: Standin) -> None:
    standin.block(0)
    seen = [impatient.tick(1)]
    while seen[-1].of(FIRST, TEMPERATURE) != "FAILED":
        assert len(seen) < 30
        seen.append(impatient.tick(1))
    assert standin.gpu(0).waiting == 1  # one thread hangs, however many ticks have passed
    seen += [impatient.tick(1) for _ in range(3)]
    assert all(_fine(one) for one in seen)
    assert {one.of(FIRST, TEMPERATURE) for one in seen} == {None, "FAILED"}
    assert sum("no answer within 5 s" in line for one in seen for line in one.log) == 1
    standin.block(0, blocked=False)
    assert _fine(impatient.until(lambda one: one.of(FIRST, TEMPERATURE) == 55), SLOTS)


def test_a_blocked_gpu_keeps_no_event_of_others(impatient: Bench, standin: Standin) -> None:
    standin.block(0)
    standin.xid(1, 63)
    standin.throttle(1, 0x20)
    codes: list[tuple[str, str]] = []

    def both(seen: Seen) -> bool:
        codes.extend(seen.codes())
        return len(codes) == 2

    impatient.until(both)
    standin.block(0, blocked=False)
    assert sorted(codes) == [(SECOND, "gpu.clock_event:sw_thermal"), (SECOND, "nvidia.xid:63")]


def test_without_a_library_one_message_and_unsupported(start: Start) -> None:
    bench = start(None, None)
    seen = bench.tick()
    assert seen.values()["node_gpus_present", ""] == "UNSUPPORTED"
    assert seen.of(FIRST, TEMPERATURE) == "UNSUPPORTED"
    assert TEMPERATURE in seen.items[f"node/n7/gpu/{FIRST}"].unsupported
    more = [line for _ in range(3) for line in bench.tick().log]
    assert len(seen.log) + len(more) == 1
    [line] = [*seen.log, *more]
    assert line.startswith("WARNING no NVIDIA driver library: libnvidia-ml.so.1: cannot open")


def test_without_a_driver_one_message_and_failed(
    start: Start, library: Path, standin: Standin
) -> None:
    standin.driver(DRIVER_NOT_LOADED)
    bench = start(library, standin)
    seen = [bench.tick(10) for _ in range(4)]
    [line] = [line for one in seen for line in one.log]
    assert line == (
        "WARNING collector nvml failed: the NVIDIA driver cannot be used"
        " (nvmlInit: Driver Not Loaded); tried again every 60 s"
    )
    assert seen[-1].of(FIRST, TEMPERATURE) == "FAILED"
    assert seen[-1].values()["agent_collector_success", "agent/nvml"] == 0


def test_a_driver_that_is_loaded_anew_is_opened_anew(agent: Bench, standin: Standin) -> None:
    standin.driver(0)
    gone = agent.tick()  # whoever notices first has it opened anew, at the latest next time
    assert {gone.of(slot, TEMPERATURE) for slot in SLOTS} <= {"FAILED", 55.0}
    back = agent.until(lambda seen: _fine(seen, SLOTS), seconds=MINUTE, tries=5)
    assert back.values()["node_gpus_present", ""] == 8
    standin.watched(times=2)
    standin.xid(2, 48)
    assert agent.until(lambda seen: seen.events).codes() == [(SLOTS[2], "nvidia.xid:48")]


def test_the_agent_goes_on_whatever_the_driver_does(agent: Bench, standin: Standin) -> None:
    standin.driver(DRIVER_NOT_LOADED)
    seen = agent.tick()
    assert seen.values()["agent_up", "agent/main"] == 1


@pytest.mark.parametrize("field", sorted(Field))
def test_a_field_is_named_as_in_the_binding(field: Field) -> None:
    pynvml = pytest.importorskip("pynvml")
    assert getattr(pynvml, f"NVML_FI_DEV_{field.name}") == field
