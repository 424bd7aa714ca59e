from collections.abc import Callable
from typing import Any

from forewarn.records import Placement
from runbooks import Evidence, match

GPU = "node/n7/gpu/0000:1a:00.0"
Make = Callable[..., Any]
NAN = {"signal": "job.nan", "movement": "event", "at": "job"}
XID79 = {"signal": "nvidia.xid", "movement": "event", "codes": ["nvidia.xid:79"]}
HOT = {"signal": "gpu_temperature_celsius", "movement": "up"}
STEP = {"signal": "job_step_seconds", "movement": "step_up"}


def found(table: Any, evidence: Evidence) -> set[tuple[str, str]]:
    return {(c.entry.id, c.entity) for c in match(table, evidence)}


def test_need_or_support_makes_a_candidate(table: Make, finding: Make, inventory: Make) -> None:
    own = table(
        {"id": "AA-01", "need": [XID79]}, {"id": "BB-01", "need": [XID79], "support": [HOT]}
    )
    hot = Evidence([finding(GPU, "gpu_temperature_celsius", "up")], inventory())
    assert found(own, hot) == {("BB-01", GPU)}
    lost = Evidence([finding(GPU, "nvidia.xid", "event", "nvidia.xid:79")], inventory())
    assert found(own, lost) == {("AA-01", GPU), ("BB-01", GPU)}


def test_exact_code_alone_makes_a_cause_but_no_symptom(
    table: Make, finding: Make, inventory: Make
) -> None:
    own = table(
        {"id": "AA-01", "need": [HOT], "codes": ["nvidia.xid:79"]},
        {"id": "SYM-90", "need": [HOT], "codes": ["nvidia.xid:79"], "kind": "symptom"},
    )
    evidence = Evidence([finding(GPU, "nvidia.xid", "event", "nvidia.xid:79")], inventory())
    assert found(own, evidence) == {("AA-01", GPU)}


def test_entry_whose_needs_are_all_absent_is_none(
    table: Make, finding: Make, inventory: Make
) -> None:
    own = table({"id": "AA-01", "need": [XID79], "support": [HOT]})
    hot = finding(GPU, "gpu_temperature_celsius", "up")
    assert found(own, Evidence([hot], inventory({"node/n7": ["nvidia.xid"]}))) == set()
    assert found(own, Evidence([hot], inventory())) == {("AA-01", GPU)}


def test_deprecated_entry_is_none_and_draft_is(table: Make, finding: Make, inventory: Make) -> None:
    own = table(
        {"id": "AA-01", "need": [HOT], "status": "deprecated"},
        {"id": "BB-01", "need": [HOT], "status": "draft"},
    )
    evidence = Evidence([finding(GPU, "gpu_temperature_celsius", "up")], inventory())
    assert found(own, evidence) == {("BB-01", GPU)}


def test_cause_sits_on_the_gpu_that_shows_something(
    table: Make, finding: Make, inventory: Make
) -> None:
    count = {"signal": "node_gpus_present", "movement": "down", "at": "node"}
    own = table({"id": "AA-01", "need": [XID79], "support": [count]})
    missing = finding("node/n7", "node_gpus_present", "down")
    alone = Evidence([missing], inventory())
    assert found(own, alone) == {("AA-01", "node/n7")}, "somewhere on the node"
    lost = finding(GPU, "nvidia.xid", "event", "nvidia.xid:79")
    assert found(own, Evidence([missing, lost], inventory())) == {("AA-01", GPU)}


def test_cause_of_a_rank_sits_on_its_device(table: Make, finding: Make, inventory: Make) -> None:
    replay = {"signal": "rank.replay_mismatch", "movement": "event", "at": "rank"}
    own = table({"id": "AA-01", "need": [replay]})
    placed = inventory({}, ranks={"job/j/rank/3": Placement("j", 3, "n7", (GPU,))})
    evidence = Evidence([finding("job/j/rank/3", "rank.replay_mismatch", "event")], placed, "j")
    assert found(own, evidence) == {("AA-01", GPU)}


def test_entry_of_a_job_sits_on_the_job(table: Make, finding: Make, inventory: Make) -> None:
    wait = {"signal": "rank_data_wait_seconds", "movement": "up", "at": "job"}
    own = table({"id": "AA-01", "entity": "job", "need": [wait]})
    evidence = Evidence([finding("job/j/rank/3", "rank_data_wait_seconds", "up")], inventory())
    assert found(own, evidence) == {("AA-01", "job/j")}


def test_condition_met_by_a_findings_value_makes_a_candidate(
    table: Make, finding: Make, inventory: Make
) -> None:
    hot = {"signal": "gpu_memory_temperature_celsius", "movement": "above", "value": 95}
    own = table({"id": "AA-01", "need": [hot]})
    for value, expected in ((97.0, {("AA-01", GPU)}), (80.0, set())):
        up = finding(GPU, "gpu_memory_temperature_celsius", "up", observed=value)
        assert found(own, Evidence([up], inventory())) == expected


def test_ports_of_a_switch_that_fit_alike_are_judged_as_the_switch(
    table: Make, finding: Make, inventory: Make
) -> None:
    full = {"signal": "switch_port_discards_total", "movement": "grows", "at": "switch"}
    own = table({"id": "AA-01", "entity": "switch", "need": [full]})
    ports = [f"switch/leaf1/port/{number}" for number in range(1, 4)]
    told = [finding(port, "switch_port_discards_total", "grows") for port in ports]
    assert found(own, Evidence(told[:2], inventory())) == {("AA-01", port) for port in ports[:2]}
    assert found(own, Evidence(told, inventory())) == {("AA-01", "switch/leaf1")}


def test_nothing_found_gives_no_candidate(builtin: Any, inventory: Make) -> None:
    assert match(builtin, Evidence([], inventory())) == ()
