"""The rules on Forewarn itself: promtool takes them, and they fire when they should, not else."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.own import OWN
from forewarn.catalogue import CATALOGUE
from tests.dashboards.prometheus import need

RULES = Path(__file__).parents[2] / "dashboards" / "rules"
UNIT_TESTS = Path(__file__).with_name("rules_test.yml")
BUILT_IN = {"up"}


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((RULES / "forewarn.yml").read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [need("promtool"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_rules_are_good() -> None:
    done = promtool("check", "rules", *sorted(RULES.glob("*.yml")))
    assert done.returncode == 0, done.stderr


def test_bad_rule_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text("groups: [{name: a, rules: [{alert: A, expr: 'sum('}]}]")
    assert promtool("check", "rules", bad).returncode == 1


def test_rules_fire_as_their_unit_tests_say() -> None:
    done = promtool("test", "rules", UNIT_TESTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_unit_test() -> None:
    cases = yaml.safe_load(UNIT_TESTS.read_text("utf-8"))["tests"]
    fires = {own["alertname"] for c in cases for own in c["alert_rule_test"] if own["exp_alerts"]}
    quiet = {own["alertname"] for c in cases for own in c["alert_rule_test"]} - fires
    names = {rule["alert"] for rule in alerts()}
    assert fires == names
    assert quiet == set()


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_alert_is_told_in_both_languages(rule: dict[str, Any]) -> None:
    assert set(rule["annotations"]) == {"summary", "summary_zh", "action", "action_zh"}
    assert rule["labels"]["severity"] in {"minor", "major", "critical"}


def test_rules_name_known_metrics_only() -> None:
    known = {*CATALOGUE, *OWN} | BUILT_IN
    for rule in alerts():
        named = set(re.findall(r"\b(?:forewarn_|agent_)\w+|\bup\b", rule["expr"]))
        assert named, rule["alert"]
        assert named <= known, rule["alert"]
