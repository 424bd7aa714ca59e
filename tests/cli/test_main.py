"""The command itself: help, errors, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from forewarn.cli import decide_client, incident
from forewarn.cli.main import VERBS, cli


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "forewarn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str) -> None:
    result = CliRunner().invoke(cli, [verb, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage: " in result.output
    assert len(result.output.splitlines()) > 4


def test_help_shows_examples_and_exit_codes() -> None:
    result = CliRunner().invoke(cli, ["--help"])
    assert "Examples:" in result.output
    assert "Exit codes:" in result.output


def test_unknown_key_in_the_configuration_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    path = tmp_path / "forewarn.toml"
    path.write_text("[agent]\nperiod_secnds = 1\n")
    result = _run("--config", str(path), "doctor")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert str(path) in result.stderr
    assert "agent.period_secnds" in result.stderr


def test_missing_configuration_is_named() -> None:
    result = _run("--config", "/nowhere/forewarn.toml", "doctor")
    assert result.returncode == 2
    assert "/nowhere/forewarn.toml" in result.stderr


@pytest.mark.parametrize("stage", ["agent", "detect", "decide"])
def test_stage_alone_on_the_embedded_bus_is_refused_with_the_fix(stage: str) -> None:
    result = _run(stage)
    assert result.returncode == 1
    assert "forewarn up" in result.stderr
    assert "Traceback" not in result.stderr


def test_version_as_json_names_wire_and_libraries() -> None:
    facts = json.loads(_run("version", "--json").stdout)
    assert facts["wire"] == "1"
    assert facts["kafka-python"] != "not installed"


def test_output_cut_by_head_ends_quietly() -> None:
    script = f"set -o pipefail; {sys.executable} -m forewarn agent --once --json | head -1"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["outcome"] in {"ok", "unsupported", "failed", "not_due"}
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("verb", [(), ("incident",), ("runbook",), ("topics",)])
def test_list_of_commands_is_not_cut_off(verb: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli, [*verb, "--help"])
    _, _, commands = result.output.partition("Commands:")
    assert commands
    assert "..." not in commands.partition("Examples:")[0]


def test_unknown_scenario_names_those_that_are_built_in() -> None:
    result = _run("simulate", "nosuch")
    assert result.returncode == 2
    assert "demo" in result.stderr
    assert "healthy" in result.stderr


def test_ways_to_fail_are_listed_with_their_place_and_strength() -> None:
    result = _run("simulate", "--modes")
    assert result.returncode == 0
    assert "clock_held: gpu, at a gpu; severity 0.1 to 0.5" in result.stdout


def test_without_a_name_the_user_confirms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    by = next(own for own in incident.confirm.params if own.name == "by")
    context = click.Context(incident.confirm)
    assert [by.process_value(context, name) for name in ("", " ", "eve")] == ["ada", "ada", "eve"]


def test_hints_of_the_interface_are_told_as_commands() -> None:
    refusal = decide_client._refusal(404, b'{"error": "no incident", "fix": "see GET /incidents"}')
    assert str(refusal) == "no incident; see `forewarn incident list`"


@pytest.mark.parametrize("word", ["../metrics", "a?b", "a/b", "", "🔥", "%2e"])
def test_what_begins_no_id_is_one_line_and_exit_code_3(word: str) -> None:
    result = _run("incident", "show", word)
    assert result.returncode == 3
    assert result.stderr.count("\n") == 1
    assert "begins no id" in result.stderr


def test_no_color_is_honoured_where_click_paints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    result = CliRunner().invoke(cli, ["doctor"], color=True)
    assert "python" in result.output
    assert "\x1b" not in result.output
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b" in CliRunner().invoke(cli, ["doctor"], color=True).output


def test_a_terminal_without_chinese_gets_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = _run("--lang", "zh", "runbook", "lookup", "xid 79")
    assert result.returncode == 0, result.stderr
    assert "GPU-CORE-01 GPU ??" in result.stdout
