"""From a sick device to what detect says of it: the same bytes that the agent sends."""

from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry

from detector.engine import Engine
from exporters.gpu.nvml.fields import Field
from forewarn.deadletter import DeadLetters
from forewarn.memory import MemoryBus
from forewarn.records import Finding
from tests.nvml.bench import Bench, Seen, as_messages
from tests.nvml.standin import SLOTS, Standin

START = 1_800_000_000_000_000_000
STEP_SECONDS = 10
FIRST = f"node/n7/gpu/{SLOTS[0]}"
Row = tuple[str, str, str, str]


def _found(seen: list[Seen]) -> list[Finding]:
    registry, bus = CollectorRegistry(), MemoryBus()
    engine = Engine("c1", registry, DeadLetters(bus.producer(), "test", registry))
    found = [*engine.feed(as_messages(seen, START, STEP_SECONDS)), *engine.flush()]
    assert registry.get_sample_value("forewarn_deadletters_total", {"reason": "bad_value"}) in {
        None, 0.0,
    }  # fmt: skip
    return [finding for finding in found if finding.seq == 1]


def _rows(found: list[Finding]) -> set[Row]:
    return {(f.entity, f.family, f.signal, f.movement) for f in found}


def _story(agent: Bench, act: Callable[[], None], before: int = 3, after: int = 3) -> list[Seen]:
    """Return what was sent around what is done to the hardware."""
    seen = [agent.tick(STEP_SECONDS) for _ in range(before)]
    act()
    return [*seen, *(agent.tick(STEP_SECONDS) for _ in range(after))]


def test_a_healthy_node_is_no_finding(agent: Bench) -> None:
    assert _rows(_found(_story(agent, lambda: None))) == set()


@pytest.mark.parametrize(
    ("act", "wanted"),
    [
        (
            lambda s: s.throttle(0, 0x48),
            {(FIRST, "event", "gpu.clock_event", "event"),
             (FIRST, "counter", "gpu_clock_event_reasons", "nonzero")},
        ),
        (
            lambda s: s.set(0, Field.ECC_DBE_VOL_TOTAL, 1),
            {(FIRST, "counter", "gpu_ecc_uncorrected_errors_total", "event")},
        ),
        (
            lambda s: s.heat(0, 95),
            {(FIRST, "band", "gpu_temperature_celsius", "above"),
             (FIRST, "band", "gpu_temperature_margin_celsius", "below")},
        ),
        (
            lambda s: s.set(0, Field.GET_GPU_RECOVERY_ACTION, 4),
            {(FIRST, "event", "gpu.recovery_action", "event")},
        ),
        (
            lambda s: s.lose(0),
            {("node/n7", "band", "node_gpus_present", "below")},
        ),
        (
            lambda s: s.set(0, Field.NVLINK_GET_STATE, 0, scope=3),
            {(FIRST, "band", "scale_up_links_up", "below"),
             (FIRST, "counter", "scale_up_link_downs_total", "event")},
        ),
        (
            lambda s: s.xid(0, 79),
            {(FIRST, "event", "nvidia.xid", "event")},
        ),
    ],
    ids=["throttled", "uncorrected", "hot", "recovery", "lost", "link", "xid"],
)  # fmt: skip
def test_a_sick_gpu_is_the_finding_it_should_be(
    agent: Bench, standin: Standin, act: Callable[[Standin], None], wanted: set[Row]
) -> None:
    found = _rows(_found(_story(agent, lambda: act(standin))))
    assert found >= wanted
    reader = f"{FIRST}/agent/nvml"  # it fails where the GPU is lost
    assert {entity for entity, *_ in found} <= {FIRST, "node/n7", reader}


def test_a_swapped_card_is_no_finding(agent: Bench, standin: Standin) -> None:
    standin.set(0, Field.ECC_SBE_VOL_TOTAL, 900)

    def swap() -> None:
        standin.swap(0, "GPU-99999999-aaaa-bbbb-cccc-000000000000", "1651111111111")
        standin.set(0, Field.ECC_SBE_VOL_TOTAL, 0)

    assert _rows(_found(_story(agent, swap))) == set()
