"""`forewarn explain`: drawn for people, JSON for programs, pictures where matplotlib is there."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detector.explain import Point
from forewarn.cli.explain_chart import chart
from forewarn.cli.main import cli
from tests.detector.training.history import CORE, GPUS, T0, history


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explain") / "a.csv"
    history(120).to_csv(path, index=False)
    return path


def explain(table: Path, *more: str) -> Result:
    return CliRunner().invoke(cli, ["explain", GPUS[0], CORE, "--table", str(table), *more])


def test_explanation_is_drawn_with_inputs_and_times(table: Path) -> None:
    result = explain(table)
    assert result.exit_code == 0, result.output
    for part in ("expected", "gpu_power_watts, 40 s lag", "learned from 2026-01-01 00:00", "░"):
        assert part in result.stdout


@pytest.mark.parametrize("at", ["2026-01-01T01:30:00Z", "2026-01-01T01:30:00", str(T0 + 5400)])
def test_json_holds_the_moment_that_was_asked_for(table: Path, at: str) -> None:
    own = json.loads(explain(table, "--at", at, "--json").stdout)
    assert own["at_unix_seconds"] == T0 + 5400
    assert own["low"] < own["observed"] < own["high"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--at", "yesterday"), "is no time"),
        (("--recording", __file__), "either --recording or --table"),
    ],
)
def test_wrong_usage_is_said(table: Path, more: tuple[str, ...], told: str) -> None:
    result = explain(table, *more)
    assert result.exit_code == 2
    assert told in result.output


def test_picture_without_matplotlib_says_what_to_install(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.dates", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = explain(table, "--svg", str(tmp_path / "a.svg"))
    assert result.exit_code == 1
    assert "forewarn[plot]" in str(result.exception)


def test_pictures_are_written(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = explain(table, "--svg", str(tmp_path / "a.svg"), "--png", str(tmp_path / "a.png"))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_chart_marks_what_is_outside_the_band_and_fits_its_frame() -> None:
    inside = [Point(float(t), 50.0, 50.0, 48.0, 52.0) for t in range(40)]
    text = chart((*inside, Point(40.0, 60.0, 50.0, 48.0, 52.0)), width=41, height=8)
    lines = text.plain.splitlines()
    assert len(lines) == 9
    assert {len(line) for line in lines[:8]} == {13 + 41}
    assert [str(span.style) for span in text.spans].count("bold red") == 1
    assert lines[0].rstrip().endswith("●")


def test_chart_of_constants_and_of_what_is_not_ready_is_drawn() -> None:
    assert "●" in chart((Point(0.0, 5.0, None, None, None),)).plain
