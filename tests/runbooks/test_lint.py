import datetime as dt
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from runbooks import Table, lint
from runbooks.lint import Problem

Make = Callable[..., Any]
TODAY = dt.date(2026, 1, 1)
BOTH = {"en": "x", "zh": "某"}
HOT = {"signal": "gpu.temp.core", "movement": "up", "at": "gpu"}
XID = {"signal": "gpu.xid", "movement": "event", "codes": ["xid:46"]}
GPU = "node/n7/gpu/0000:1a:00.0"
GOOD: dict[str, Any] = {
    "id": "AA-01", "summary": BOTH, "review_by": "2027-01-01", "need": [HOT],
    "sources": [{"ref": "a"}],
    "actions": [
        {"id": "look", "when": "immediate", "verb": "observe", "target": "gpu", "text": BOTH}
    ],
    "tests": [
        {
            "name": "hot",
            "findings": [{"signal": "gpu.temp.core", "movement": "up", "entity": GPU}],
            "expect": {"rank": 1},
        },
        {
            "name": "slow",
            "findings": [{"signal": "job.step_time", "movement": "up", "entity": "job/j"}],
            "expect": {"match": False},
        },
    ],
}  # fmt: skip
DRAIN = {
    "id": "drain", "when": "immediate", "verb": "drain_node", "target": "node", "text": BOTH,
    "risk": "medium", "approval": True, "precondition": BOTH, "verify": BOTH,
}  # fmt: skip
OTHERS = [
    {"id": f"ZZ-{i:02}", "status": "draft", "need": [{"signal": s, "movement": "up"}]}
    for i, s in enumerate(["node.inlet_temp", "node.cpu.util", "gpu.power", "switch.temp"])
]


@pytest.fixture
def said(entry: Make) -> Callable[..., list[str]]:
    def run(*own: dict[str, Any], severity: str | None = None) -> list[str]:
        made = {}
        for keys in (*own, *OTHERS):
            data = dict(keys)
            date = data.pop("review_by", None)
            one = entry(data.pop("id"), **data)
            if date:
                one = msgspec.structs.replace(one, review_by=dt.date.fromisoformat(date))
            made[one.id] = one
        table = Table(made, where={name: f"{name}.yaml:1" for name in made})
        found = lint(table, TODAY)
        return [f"{p.key}: {p.message}" for p in found if severity in {None, p.severity}]

    return run


def test_builtin_table_is_clean(builtin: Table) -> None:
    assert [str(p) for p in lint(builtin, TODAY)] == []


def test_complete_entry_is_clean(said: Make) -> None:
    assert said(GOOD) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"summary": {"en": "x"}}, "summary.zh: is missing"),
        ({"title": {"en": "x" * 161, "zh": "某"}}, "title.en: takes 161 bytes, at most 160"),
        ({"title": {"en": "x", "zh": "某" * 54}}, "title.zh: takes 162 bytes"),
        ({"sources": []}, "sources: is empty"),
        ({"review_by": None}, "review_by: is missing"),
        ({"actions": []}, "actions: has no immediate step"),
        ({"edges": [{"to": "BB-09"}]}, "edges[0].to: refers to BB-09, which is no entry"),
        ({"edges": [{"to": "AA-01"}]}, "refers to the entry itself"),
        ({"absorbs": ["BB-09"]}, "absorbs: refers to BB-09"),
        ({"leads_to": {"yes": ["BB-09"]}}, "leads_to.yes: refers to BB-09"),
        ({"tests": GOOD["tests"][:1]}, "tests: holds no negative case"),
        ({"tests": GOOD["tests"][1:]}, "tests: holds no positive case"),
        ({"need": []}, "need: is empty and there are no codes"),
        ({"need": [{"signal": "gpu.temp.core", "movement": "zero"}]}, "no family emits zero"),
        (
            {"need": [{"signal": "gpu.util", "movement": "above", "value": 0.95}]},
            "need: holds conditions only",
        ),
        ({"kind": "symptom"}, "leads_to: a symptom asks"),
        ({"actions": [{**DRAIN, "approval": False}]}, "drain is disruptive and needs approval"),
        ({"actions": [{**DRAIN, "verify": {"en": "x"}}]}, "actions[0].verify: drain is disrup"),
        ({"actions": [{**DRAIN, "precondition": {}}]}, "actions[0].precondition"),
        ({"actions": GOOD["actions"] * 2}, "actions: 'look' stands twice"),
    ],
)
def test_each_rule_finds_its_fault(said: Make, change: dict[str, Any], words: str) -> None:
    found = said({**GOOD, **change}, severity="error")
    assert any(words in line for line in found), found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"review_by": "2025-12-31"}, "review_by: was 2025-12-31"),
        ({"text_rev": {"en": 2, "zh": 1}}, "text_rev.zh: is 1, the other is 2"),
        ({"drain": "now"}, "drain: is now, and no action drains"),
    ],
)
def test_what_ages_is_a_warning(said: Make, change: dict[str, Any], words: str) -> None:
    found = said({**GOOD, **change})
    assert any(words in line for line in found), found
    assert said({**GOOD, **change}, severity="error") == []


def test_case_that_fails_is_an_error_that_says_what_came(said: Make) -> None:
    wrong = {**GOOD["tests"][0], "expect": {"match": False}}
    found = said({**GOOD, "tests": [*GOOD["tests"], wrong]}, severity="error")
    assert found == ["tests[2]: 'hot': matches at rank 1"]


def test_circle_of_causes_is_found(said: Make) -> None:
    found = said(
        {**GOOD, "edges": [{"to": "ZZ-00"}]},
        {"id": "YY-01", "status": "draft", "need": [XID], "edges": [{"to": "AA-01"}]},
        {"id": "YY-02", "status": "draft", "need": [HOT], "edges": [{"to": "YY-03"}]},
        {"id": "YY-03", "status": "draft", "need": [XID], "edges": [{"to": "YY-02"}]},
    )
    assert any("circle: YY-02 -> YY-03 -> YY-02" in line for line in found)


def test_causes_that_nothing_tells_apart_are_found(said: Make) -> None:
    twin = {"id": "BB-01", "status": "draft", "need": [HOT, XID]}
    other = {"id": "BB-02", "status": "draft", "need": [XID, HOT]}
    found = said(twin, other)
    assert any("needs are the same as BB-02's" in line for line in found)
    edge = {**twin, "edges": [{"to": "BB-02"}]}
    assert not any("needs are" in line for line in said(edge, other))
    move = {"result": BOTH, "supports": ["BB-01"], "refutes": ["BB-02"]}
    check = {"id": "c", "text": BOTH, "kind": "manual", "moves": [move]}
    assert not any("needs are" in line for line in said({**twin, "checks": [check]}, other))


def test_makers_other_advice_must_be_listed(said: Make) -> None:
    own = {**GOOD, "need": [{**XID, "codes": ["xid:63"]}], "actions": [DRAIN], "tests": []}
    found = said(own, severity="error")
    assert any("nvidia.xid:63: ignore; here: drain_node" in line for line in found)
    conflict = {"source": "NVIDIA Xid sheet", "says": BOTH}
    listed = said({**own, "conflicts": [conflict]}, severity="error")
    assert not any("Xid sheet" in line for line in listed)
    agreed = said({**own, "need": [XID]}, severity="error")
    assert not any("Xid sheet" in line for line in agreed)


def test_left_out_files_are_among_the_problems() -> None:
    broken = Problem("x.yaml:3", "rev", "expected int")
    assert lint(Table({}, (broken,)), TODAY) == (broken,)
