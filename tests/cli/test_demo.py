"""`forewarn demo`: each fault found with its cause first, nothing else, and the same each time."""

import json
import random
from typing import Any

import pytest
from click.testing import CliRunner

from forewarn.cli.main import cli

SMALL = ("--gpus", "64")  # `make demo` runs the large one


def _demo(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    result = CliRunner().invoke(cli, ["demo", "--json", *arguments])
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


def _ids(lines: list[dict[str, Any]], kind: str) -> list[str]:
    return [line[kind]["id"] for line in lines if line["kind"] == kind]


def test_demo_finds_each_fault_with_its_cause_first_and_shows_this_machine() -> None:
    code, lines = _demo(*SMALL, "--seed", "1")
    score = lines[-1]
    assert score["perfect"], score
    assert code == 0
    assert {row["mode"] for row in score["score"]["rows"]} == {
        "thermal_paste", "link_errors", "loss_nan",
    }  # fmt: skip
    here = next(line for line in lines if line["kind"] == "here")["sensors"]
    assert here["signals"] >= 25
    causes = [line["incident"]["hypotheses"][0] for line in lines if line["kind"] == "incident"]
    for cause in causes:
        assert cause["title"]["en"]
        assert cause["title"]["zh"]
        assert cause["first_step"]["text"]["zh"]


def test_demo_gives_the_same_findings_and_incidents_each_time() -> None:
    first, second = (_demo(*SMALL, "--seed", "5", "--no-real")[1] for _ in range(2))
    assert _ids(first, "finding") == _ids(second, "finding")
    assert _ids(first, "incident") == _ids(second, "incident")


@pytest.mark.parametrize("draw", range(3))
def test_demo_with_a_random_seed_prints_it_and_is_right(draw: int) -> None:
    seed = random.Random(f"demo-{draw}").randrange(1_000_000)
    code, lines = _demo(*SMALL, "--seed", str(seed), "--no-real")
    assert lines[0]["seed"] == seed
    assert code == 0, lines[-1]


def test_demo_refuses_a_seed_that_is_none() -> None:
    result = CliRunner().invoke(cli, ["demo", "--seed", "seven"])
    assert result.exit_code == 2
    assert "random" in result.output
