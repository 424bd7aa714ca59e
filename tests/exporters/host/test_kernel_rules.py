from pathlib import Path

import pytest

from exporters.collector import Host
from exporters.host import parts
from exporters.host.kernel_rules import RULES, match, signals
from forewarn import codes
from forewarn.catalogue import CATALOGUE

LINES = [
    tuple(line.split(" | ", 3))
    for line in (Path(__file__).parents[1] / "fixtures/kernel_lines.txt").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("severity", "code", "part", "text"), LINES)
def test_a_line_means_what_it_says(
    severity: str, code: str, part: str, text: str, empty: Host
) -> None:
    hit = match(text)
    if code == "-":
        assert hit is None
        return
    assert hit is not None
    assert (hit.severity, hit.code) == (severity, code)
    assert parts.entity(empty, hit) == "node/n7" + ("" if part == "-" else f"/{part}")


def test_every_rule_has_a_line() -> None:
    unused = [
        rule.code
        for rule in RULES
        if not any(code != "-" and rule.pattern.match(text) for _, code, _, text in LINES)
    ]
    # Shapes read in driver source only, without a captured line.
    assert set(unused) <= {
        "kernel.event:filesystem_shutdown",
        "kernel.event:cper_recoverable",
        "nic.module_event:overheated",
        "nic.module_event:unpowered",
    }


def test_every_code_is_of_an_event_of_the_catalogue() -> None:
    for rule in RULES:
        assert not CATALOGUE[codes.namespace(rule.code)].is_metric


def test_signals_of_a_part_are_those_its_rules_tell() -> None:
    assert signals("gpu") == ("nvidia.xid",)
    assert signals("nic", "nic_slot") == ("nic.fw_health", "nic.link_state", "nic.module_event")
    assert set(signals("node")) == {
        "kernel.aer", "kernel.event", "kernel.mce", "kernel.oom", "nvidia.sxid",
    }  # fmt: skip
