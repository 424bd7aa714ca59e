from collections.abc import Callable
from typing import Any

import pytest

from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding, Placement, Reading
from runbooks import Evidence, hardware_class
from runbooks.model import Predicate

GPU = "node/n7/gpu/0000:1a:00.0"
OTHER = "node/n7/gpu/0000:1b:00.0"
TEMPERATURE = Predicate(signal="gpu_temperature_celsius", movement="up", at="gpu")
XID = Predicate(signal="nvidia.xid", movement="event", at="gpu", codes=("nvidia.xid:79",))

Make = Callable[..., Any]


def state(findings: list[Finding], inventory: Inventory, own: Predicate, at: str, job="") -> str:
    return Evidence(findings, inventory, job).seen(own, at).state


def test_finding_makes_present(finding: Make, inventory: Make) -> None:
    seen = Evidence([finding(GPU, "gpu_temperature_celsius", "up")], inventory()).seen(
        TEMPERATURE, GPU
    )
    assert seen.state == "present"
    assert [f.id for f in seen.findings] == ["f1"]


def test_collected_without_finding_is_absent(inventory: Make) -> None:
    own = inventory({GPU: ["gpu_temperature_celsius"]})
    assert state([], own, TEMPERATURE, GPU) == "absent"


def test_without_a_source_nothing_is_known(inventory: Make) -> None:
    assert state([], inventory({GPU: ["gpu_power_watts"]}), TEMPERATURE, GPU) == "not_collected"
    assert state([], inventory({OTHER: ["gpu_temperature_celsius"]}), TEMPERATURE, GPU) == (
        "not_collected"
    )


def test_unsupported_signal_is_not_collected(inventory: Make) -> None:
    own = inventory(
        {GPU: ["gpu_temperature_celsius"]}, unsupported={GPU: ["gpu_temperature_celsius"]}
    )
    assert state([], own, TEMPERATURE, GPU) == "not_collected"


def test_silent_source_says_nothing(finding: Make, inventory: Make) -> None:
    own = inventory({GPU: ["gpu_temperature_celsius"]})
    gone = finding(GPU, "gpu_temperature_celsius", "absent")
    assert state([gone], own, TEMPERATURE, GPU) == "not_collected"
    dead = finding("node/n7", "agent_up", "zero")
    assert state([dead], own, TEMPERATURE, GPU) == "not_collected"
    elsewhere = finding("node/n8", "agent_up", "zero")
    assert state([elsewhere], own, TEMPERATURE, GPU) == "absent"


def test_finding_of_a_neighbour_is_not_its_own(finding: Make, inventory: Make) -> None:
    own = inventory({GPU: ["gpu_temperature_celsius"]})
    hot = finding(OTHER, "gpu_temperature_celsius", "up")
    assert state([hot], own, TEMPERATURE, GPU) == "absent"


@pytest.mark.parametrize(
    ("movement", "expected"),
    [("step_up", "present"), ("up", "present"), ("down", "absent"), ("spike", "absent")],
)
def test_movements_of_the_same_side_satisfy(
    finding: Make, inventory: Make, movement: str, expected: str
) -> None:
    own = inventory({GPU: ["gpu_temperature_celsius"]})
    assert state([finding(GPU, "gpu_temperature_celsius", movement)], own, TEMPERATURE, GPU) == (
        expected
    )


def test_codes_are_matched_with_sub_codes(finding: Make, inventory: Make) -> None:
    own = inventory({GPU: ["nvidia.xid"]})
    assert state([finding(GPU, "nvidia.xid", "event", "nvidia.xid:79/a")], own, XID, GPU) == (
        "present"
    )
    assert state([finding(GPU, "nvidia.xid", "event", "nvidia.xid:45")], own, XID, GPU) == "absent"


def test_event_source_of_the_node_stands_for_its_gpus(inventory: Make) -> None:
    assert state([], inventory({"node/n7": ["nvidia.xid"], GPU: []}), XID, GPU) == "absent"
    assert state([], inventory({"node/n8": ["nvidia.xid"], GPU: []}), XID, GPU) == "not_collected"


def test_any_line_of_the_log_means_its_namespaces_too(finding: Make, inventory: Make) -> None:
    line = Predicate(signal="job.log_event", movement="event", at="rank")
    found = finding("job/4711/rank/3", "nccl.error", "event", "nccl.error:ib_error")
    assert state([found], inventory(), line, "job/4711") == "present"


def test_alternatives(finding: Make, inventory: Make) -> None:
    either = Predicate(any=(TEMPERATURE, XID))
    hot = finding(GPU, "gpu_temperature_celsius", "up")
    assert state([hot], inventory(), either, GPU) == "present"
    half = inventory({GPU: ["gpu_temperature_celsius"]})
    assert state([], half, either, GPU) == "not_collected", "the other one might be there"
    whole = inventory({GPU: ["gpu_temperature_celsius", "nvidia.xid"]})
    assert state([], whole, either, GPU) == "absent"


def test_condition_is_tested_on_the_latest_reading(finding: Make, inventory: Make) -> None:
    busy = Predicate(signal="gpu_utilization_ratio", movement="above", at="gpu", value=0.95)
    old = Reading("gpu_utilization_ratio", GPU, 0.2, 1)
    new = Reading("gpu_utilization_ratio", GPU, 0.99, 2)
    carrier = finding(GPU, "gpu_power_watts", "down", readings=(new, old))
    evidence = Evidence([carrier], inventory())
    assert evidence.seen(busy, GPU).state == "present"
    assert evidence.seen(busy, GPU).findings == (carrier,)
    idle = finding(GPU, "gpu_power_watts", "down", readings=(old,))
    assert state([idle], inventory(), busy, GPU) == "absent"
    assert state([], inventory({GPU: ["gpu_utilization_ratio"]}), busy, GPU) == "not_collected"


def test_condition_is_tested_on_the_value_of_a_finding(finding: Make, inventory: Make) -> None:
    hot = Predicate(signal="gpu_memory_temperature_celsius", movement="above", at="gpu", value=95)
    for value, expected in ((97.0, "present"), (80.0, "absent")):
        own = finding(GPU, "gpu_memory_temperature_celsius", "up", observed=value)
        assert state([own], inventory(), hot, GPU) == expected


def test_floor_of_the_row_would_have_told(inventory: Make) -> None:
    hot = Predicate(signal="gpu_memory_temperature_celsius", movement="above", at="gpu", value=95)
    own = inventory({GPU: ["gpu_memory_temperature_celsius"]})
    assert state([], own, hot, GPU) == "absent"


def test_closed_finding_counts_within_the_window_only(finding: Make, inventory: Make) -> None:
    closed = finding(GPU, "gpu_temperature_celsius", "up")
    at = closed.opened_at_unix_nano
    ended = finding(GPU, "gpu_temperature_celsius", "up", closed_at_unix_nano=at)
    own = inventory({GPU: ["gpu_temperature_celsius"]})
    soon = Evidence([ended], own, at_unix_nano=at + 60 * NANOSECONDS)
    late = Evidence([ended], own, at_unix_nano=at + 1000 * NANOSECONDS)
    assert soon.seen(TEMPERATURE, GPU).state == "present"
    assert late.seen(TEMPERATURE, GPU).state == "absent"


def test_job_and_rank_are_seen_from_the_gpu_they_run_on(finding: Make, inventory: Make) -> None:
    places = {
        f"job/4711/rank/{i}": Placement("4711", i, "n7", (gpu,))
        for i, gpu in enumerate([GPU, OTHER])
    }
    own = inventory({}, ranks=places)
    slow = Predicate(signal="rank_compute_seconds", movement="outlier", at="rank")
    step = Predicate(signal="job_step_seconds", movement="step_up", at="job")
    findings = [
        finding("job/4711/rank/0", "rank_compute_seconds", "outlier"),
        finding("job/4711", "job_step_seconds", "step_up"),
    ]
    evidence = Evidence(findings, own)
    assert evidence.seen(slow, GPU).state == "present"
    assert evidence.seen(slow, OTHER).state == "not_collected"
    assert evidence.seen(step, GPU).state == "present"
    assert evidence.seen(step, OTHER).state == "present"


def test_gpu_is_gathered_at_job_rack_and_fleet(finding: Make, inventory: Make) -> None:
    own = inventory(
        {GPU: []},
        {"node/n7": {"rack": "r1"}, "node/n9": {"rack": "r2"}},
        {"job/4711/rank/0": Placement("4711", 0, "n7", (GPU,))},
    )
    low = Predicate(signal="gpu_utilization_ratio", movement="down", at="job")
    hot = Predicate(signal="gpu_temperature_celsius", movement="up", at="rack")
    all_hot = Predicate(signal="gpu_temperature_celsius", movement="up", at="fleet")
    evidence = Evidence(
        [
            finding(GPU, "gpu_utilization_ratio", "down"),
            finding(GPU, "gpu_temperature_celsius", "up"),
        ],
        own,
    )
    assert evidence.seen(low, "job/4711").state == "present"
    assert evidence.seen(low, "job/5000").state == "not_collected"
    assert evidence.seen(hot, "rack/r1").state == "present"
    assert evidence.seen(hot, "rack/r2").state == "not_collected"
    assert evidence.seen(all_hot, "facility/hall").state == "present"


def test_loop_of_the_rack_is_seen_from_a_gpu(finding: Make, inventory: Make) -> None:
    own = inventory(
        {"cdu/c1": ["facility_coolant_flow_liters_per_second"]}, {"node/n7": {"loop": "c1"}}
    )
    flow = Predicate(
        signal="facility_coolant_flow_liters_per_second", movement="step_down", at="facility"
    )
    assert state([], own, flow, GPU) == "absent"
    low = finding("cdu/c1", "facility_coolant_flow_liters_per_second", "step_down")
    assert state([low], own, flow, GPU) == "present"
    far = finding("cdu/c2", "facility_coolant_flow_liters_per_second", "step_down")
    assert state([far], own, flow, GPU) != "not_collected"


def test_hardware_class_is_the_nearest_model(inventory: Make) -> None:
    own = inventory({}, {"node/n7": {"model": "dgx"}, GPU: {"model": "h100"}})
    assert hardware_class(own, GPU) == "h100"
    assert hardware_class(own, OTHER) == "dgx"
    assert hardware_class(own, "node/n8") == "any"


def test_code_counts_for_as_long_as_what_began_with_it_lasts(
    finding: Make, inventory: Make
) -> None:
    code = finding(GPU, "nvidia.xid", "event", code="nvidia.xid:79")
    began = code.opened_at_unix_nano
    hours = 3 * 3600 * NANOSECONDS
    said = finding(
        GPU, "nvidia.xid", "event", code="nvidia.xid:79",
        closed_at_unix_nano=began + 600 * NANOSECONDS,
    )  # fmt: skip
    silent = finding(GPU, "gpu_temperature_celsius", "absent", updated_at_unix_nano=began + hours)
    assert state([said, silent], inventory(), XID, GPU) == "present"
