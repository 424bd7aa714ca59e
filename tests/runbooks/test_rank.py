import math
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from forewarn.incident import Hypothesis
from runbooks import UNKNOWN, Evidence, match, rank
from runbooks.rank import UNKNOWN_SCORE

GPU = "node/n7/gpu/0000:1a:00.0"
Make = Callable[..., Any]
XID79 = {"signal": "nvidia.xid", "movement": "event", "codes": ["nvidia.xid:79"]}
XID31 = {"signal": "nvidia.xid", "movement": "event", "codes": ["nvidia.xid:31"]}
HOT = {"signal": "gpu_temperature_celsius", "movement": "up"}
SLOW = {"signal": "gpu_core_clock_hertz", "movement": "down"}


class Count(msgspec.Struct, frozen=True):
    confirmed: int
    refuted: int


def ranked(table: Any, evidence: Evidence, counts: Any = None) -> dict[str, Hypothesis]:
    found = rank(table, match(table, evidence), evidence, counts or {})
    return {own.entry: own for own in found}


def test_score_is_the_sum_of_its_points(table: Make, finding: Make, inventory: Make) -> None:
    own = table(
        {"id": "AA-01", "need": [HOT, XID79, SLOW], "support": [XID31], "against": [XID31]},
        {"id": "BB-01", "need": [XID31]},
        {"id": "CC-01", "need": [XID31]},
    )
    findings = [
        finding(GPU, "gpu_temperature_celsius", "up"),
        finding(GPU, "nvidia.xid", "event", "nvidia.xid:31"),
    ]
    evidence = Evidence(findings, inventory({GPU: ["nvidia.xid"]}))
    made = ranked(own, evidence)["AA-01"]
    rare, common = math.log(4 / 2), math.log(4 / 4)
    expected = rare - 0.7 * rare - 0.1 * rare + 0.5 * common - common
    assert made.score == pytest.approx(expected, abs=1e-4)
    weights = {p.text.en.partition(":")[0]: p.weight for p in (*made.against, *made.missing)}
    assert weights["NVIDIA Xid 79"] == pytest.approx(-0.7 * rare, abs=1e-4)
    assert weights["Clock of the compute cores"] == pytest.approx(-0.1 * rare, abs=1e-4)


def test_what_many_entries_share_weighs_little(table: Make, finding: Make, inventory: Make) -> None:
    many = [{"id": f"MM-{i:02}", "need": [HOT]} for i in range(10, 20)]
    own = table({"id": "AA-01", "need": [XID79]}, *many)
    findings = [
        finding(GPU, "gpu_temperature_celsius", "up"),
        finding(GPU, "nvidia.xid", "event", "nvidia.xid:79"),
    ]
    made = ranked(own, Evidence(findings, inventory()))
    assert made["AA-01"].score > 5 * made["MM-10"].score > 0


def test_shares_add_up_to_one_with_unknown(table: Make, finding: Make, inventory: Make) -> None:
    own = table({"id": "AA-01", "need": [HOT]}, {"id": "BB-01", "need": [XID79], "support": [HOT]})
    made = ranked(own, Evidence([finding(GPU, "gpu_temperature_celsius", "up")], inventory()))
    assert sum(h.share for h in made.values()) == pytest.approx(1.0)
    assert list(made) == sorted(made, key=lambda e: -made[e].score)
    assert made[UNKNOWN].score == UNKNOWN_SCORE


def test_without_evidence_only_unknown_is_left(builtin: Any, inventory: Make) -> None:
    found = rank(builtin, (), Evidence([], inventory()), {})
    assert [(h.entry, h.share) for h in found] == [(UNKNOWN, 1.0)]


def test_weak_evidence_leaves_unknown_first(builtin: Any, finding: Make, inventory: Make) -> None:
    failed = finding("job/4711", "job.state", "event", "job.state:failed")
    evidence = Evidence([failed], inventory(), "4711")
    found = rank(builtin, match(builtin, evidence), evidence, {})
    assert found[0].entry == UNKNOWN


def test_cause_leads_symptom_and_active_leads_draft(
    table: Make, finding: Make, inventory: Make
) -> None:
    own = table(
        {"id": "AA-01", "need": [HOT], "status": "draft"},
        {"id": "AA-02", "need": [HOT], "kind": "symptom"},
        {"id": "AA-03", "need": [HOT]},
        {"id": "ZZ-01", "need": [XID79]},
    )
    made = ranked(own, Evidence([finding(GPU, "gpu_temperature_celsius", "up")], inventory()))
    assert [e for e in made if e != UNKNOWN] == ["AA-03", "AA-01", "AA-02"]
    assert made["AA-01"].draft
    assert not made["AA-03"].draft


def test_verdicts_of_the_hardware_class_move_the_score_and_are_shown(
    table: Make, finding: Make, inventory: Make
) -> None:
    own = table({"id": "AA-01", "need": [HOT]}, {"id": "BB-01", "need": [HOT]})
    evidence = Evidence(
        [finding(GPU, "gpu_temperature_celsius", "up")],
        inventory({}, {"node/n7": {"model": "h100"}}),
    )
    counts = {("BB-01", 1, "h100"): Count(3, 0), ("AA-01", 1, "a100"): Count(9, 0)}
    made = ranked(own, evidence, counts)
    assert made["BB-01"].counts == (3, 0)
    assert made["AA-01"].counts == (0, 0), "another hardware class"
    assert made["BB-01"].score - made["AA-01"].score == pytest.approx(math.log(8 / 5), abs=1e-4)
    refuted = ranked(own, evidence, {("BB-01", 1, "h100"): Count(0, 3)})
    assert refuted["BB-01"].score - refuted["AA-01"].score == pytest.approx(
        math.log(2 / 5), abs=1e-4
    )
    stale = ranked(own, evidence, {("BB-01", 2, "h100"): Count(5, 0)})
    assert stale["BB-01"].counts == (0, 0), "another revision"


def test_prior_moves_the_score_by_one_nat_at_most(
    table: Make, finding: Make, inventory: Make
) -> None:
    prior = [{"count": 90, "exposure": 100, "source": "a paper"}]
    own = table({"id": "AA-01", "need": [HOT], "prior": prior}, {"id": "BB-01", "need": [HOT]})
    evidence = Evidence([finding(GPU, "gpu_temperature_celsius", "up")], inventory())
    made = ranked(own, evidence)
    assert 0 < made["AA-01"].score - made["BB-01"].score <= 1.0


def test_cause_seen_after_its_effect_is_penalised_beyond_lag_and_clocks(
    table: Make, finding: Make, inventory: Make
) -> None:
    edges = [{"to": "BB-01", "lag_seconds": [0, 10]}]
    own = table({"id": "AA-01", "need": [HOT], "edges": edges}, {"id": "BB-01", "need": [SLOW]})

    def score(seconds: float, uncertainty: float) -> float:
        findings = [
            finding(GPU, "gpu_core_clock_hertz", "down"),
            finding(
                GPU, "gpu_temperature_celsius", "up",
                seconds=seconds, clock_uncertainty_seconds=uncertainty,
            ),
        ]  # fmt: skip
        return ranked(own, Evidence(findings, inventory()))["AA-01"].score

    assert score(9, 0) == score(0, 0)
    assert score(30, 0) == pytest.approx(score(0, 0) - 1)
    assert score(30, 25) == score(0, 0)


def test_absorbed_entry_falls_behind(table: Make, finding: Make, inventory: Make) -> None:
    own = table(
        {"id": "BB-01", "need": [HOT], "absorbs": ["AA-01"]},
        {"id": "AA-01", "need": [SLOW]},
        {"id": "CC-01", "need": [XID79]},
    )
    findings = [
        finding(GPU, "gpu_core_clock_hertz", "down"),
        finding(GPU, "gpu_temperature_celsius", "up"),
    ]
    made = ranked(own, Evidence(findings, inventory()))
    assert made["BB-01"].score == pytest.approx(made["AA-01"].score + 2)
    elsewhere = [
        finding("node/n9/gpu/0000:1a:00.0", "gpu_core_clock_hertz", "down"),
        finding(GPU, "gpu_temperature_celsius", "up"),
    ]
    apart = ranked(own, Evidence(elsewhere, inventory()))
    assert apart["BB-01"].score == pytest.approx(apart["AA-01"].score)


def test_code_of_the_entry_counts_once(table: Make, finding: Make, inventory: Make) -> None:
    own = table(
        {"id": "AA-01", "need": [XID79], "codes": ["nvidia.xid:79"]},
        {"id": "BB-01", "need": [HOT], "codes": ["nvidia.xid:79"]},
        {"id": "CC-01", "need": [HOT]},
    )
    evidence = Evidence([finding(GPU, "nvidia.xid", "event", "nvidia.xid:79")], inventory())
    made = ranked(own, evidence)
    assert len(made["AA-01"].support) == 1
    assert made["AA-01"].score == pytest.approx(math.log(4 / 2), abs=1e-4)
    assert made["BB-01"].support[0].weight > 0


def test_entry_stands_once_at_its_best_place(table: Make, finding: Make, inventory: Make) -> None:
    other = "node/n7/gpu/0000:1b:00.0"
    own = table({"id": "AA-01", "need": [HOT], "support": [SLOW]})
    findings = [
        finding(other, "gpu_temperature_celsius", "up"),
        finding(GPU, "gpu_temperature_celsius", "up"),
        finding(GPU, "gpu_core_clock_hertz", "down"),
    ]
    evidence = Evidence(findings, inventory())
    found = rank(own, match(own, evidence), evidence, {})
    assert [(h.entry, h.entity) for h in found if h.entry != UNKNOWN] == [("AA-01", GPU)]


def test_points_hold_both_languages_and_ids(builtin: Any, finding: Make, inventory: Make) -> None:
    hot = finding(
        GPU, "gpu_temperature_celsius", "up", observed=91.0, expected=74.0, unit="celsius"
    )
    evidence = Evidence([hot], inventory())
    best = rank(builtin, match(builtin, evidence), evidence, {})[0]
    assert best.entry == "GPU-TP-01"
    point = best.support[0]
    assert point.findings == (hot.id,)
    assert point.text.en == (
        "Core temperature: lastingly higher than normal"
        " (gpu 0000:1a:00.0 of node n7, 91 °C, normally 74 °C)"
    )
    assert point.text.zh == (
        "核心温度：持续高于正常水平（node n7 gpu 0000:1a:00.0，91 °C，正常约 74 °C）"
    )
    assert best.first_step is not None
    assert best.first_step.text.zh
    assert best.next_check is not None


def test_ranking_does_not_depend_on_the_order_of_findings(
    builtin: Any, finding: Make, inventory: Make
) -> None:
    findings = [
        finding(GPU, "nvidia.xid", "event", "nvidia.xid:79"),
        finding(GPU, "nvidia.xid", "event", "nvidia.xid:45"),
        finding("job/4711", "job.state", "event", "job.state:failed"),
        finding("node/n7", "node_gpus_present", "down"),
    ]
    ways = []
    for own in (findings, findings[::-1]):
        evidence = Evidence(own, inventory(), "4711")
        found = rank(builtin, match(builtin, evidence), evidence, {})
        ways.append([(h.entry, h.entity, h.score) for h in found])
    assert ways[0] == ways[1]
    assert ways[0][0][0] == "GPU-CORE-01"


def test_what_three_siblings_show_is_rather_their_parents(
    table: Make, finding: Make, inventory: Make
) -> None:
    flow = {"signal": "facility.rack.flow", "movement": "outlier", "at": "rack"}
    at_rack = {"signal": "gpu_temperature_celsius", "movement": "up", "at": "rack"}
    own = table(
        {"id": "AA-01", "need": [HOT]},
        {"id": "BB-01", "entity": "rack", "need": [flow], "support": [at_rack]},
        {"id": "CC-01", "need": [SLOW]},
        {"id": "DD-01", "need": [XID79]},
    )
    known = inventory({}, {"node/n7": {"rack": "r1"}})
    gpus = [f"node/n7/gpu/0000:{i}a:00.0" for i in range(3)]
    hot = [finding(gpu, "gpu_temperature_celsius", "up") for gpu in gpus]

    def lead(findings: list[Any]) -> float:
        made = ranked(own, Evidence(findings, known))
        return made["AA-01"].score - made["BB-01"].score

    assert lead(hot[:2]) - lead(hot) == pytest.approx(1.5)
