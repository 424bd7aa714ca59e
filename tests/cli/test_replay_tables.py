"""`forewarn replay` over tables: scores, findings, incidents; signals of strangers; bad input."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from detector.training.tidy import TidyError
from forewarn.cli.main import cli
from tests.detector.training.history import GPUS, T0, history

PERIOD = 60


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["replay", *map(str, arguments)])


def stranger(count: int, seed: int, begin: int = T0) -> pd.DataFrame:
    """Return a table of a server with six metrics that nobody described."""
    random = np.random.default_rng(seed)
    time = begin + PERIOD * np.arange(count)
    hidden = np.sin(time / 2000)[:, None] + 0.1 * random.normal(size=(count, 1))
    values = hidden @ np.array([[1, 2, -1, 0.5, 1, 3]]) + 0.05 * random.normal(size=(count, 6))
    names = [f"strange metric {number}" for number in range(6)]
    return pd.DataFrame(
        {"time": np.repeat(time, 6), "entity": "srv-1", "signal": names * count,
         "value": values.ravel()}
    )  # fmt: skip


def outputs(folder: Path) -> list[object]:
    return ["--scores", folder / "s.parquet", "--findings", folder / "f.jsonl",
            "--incidents", folder / "i.jsonl"]  # fmt: skip


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replay an unknown server after learning from it; in a process of its own, for its names."""
    folder = tmp_path_factory.mktemp("strange")
    stranger(1500, 1).to_parquet(folder / "train.parquet")
    sick = stranger(600, 2)  # at the same times as what is learned from
    off = (sick["signal"] == "strange metric 1") & (sick["time"] >= T0 + 400 * PERIOD)
    sick.loc[off, "value"] *= -1
    sick.to_parquet(folder / "test.parquet")
    subprocess.run(
        [sys.executable, "-m", "forewarn", "replay", str(folder / "test.parquet"), "--train",
         str(folder / "train.parquet"), "--unknown", "gauge", *map(str, outputs(folder))],
        check=True, stdout=subprocess.DEVNULL, timeout=300,
    )  # fmt: skip
    return folder


def test_scores_have_a_row_for_each_time_and_entity_of_the_table(strange: Path) -> None:
    scores = pd.read_parquet(strange / "s.parquet")
    assert list(scores.columns) == ["time", "entity", "surprise", "signals"]
    assert scores["time"].tolist() == (T0 + PERIOD * np.arange(600)).tolist()
    assert set(scores["entity"]) == {"srv-1"}
    late = scores["time"] >= T0 + 420 * PERIOD
    assert scores["surprise"][late].median() > 2 * scores["surprise"][~late].median()
    weighs = scores["signals"][late].str.split(",").str[0]
    assert (weighs == "strange metric 1").mean() > 0.5


def test_entity_as_a_whole_is_a_finding_and_an_incident(strange: Path) -> None:
    joint = [own for own in lines(strange / "f.jsonl") if own["family"] == "joint"]
    opened = [own for own in joint if own["seq"] == 1]
    begin = (T0 + 400 * PERIOD) * 1_000_000_000
    assert any(begin <= own["opened_at_unix_nano"] <= begin + 1800e9 for own in opened)
    assert all(own["entity"] == "node/srv-1" for own in joint)
    assert lines(strange / "i.jsonl")


def test_known_signals_are_scored_by_their_own_families(tmp_path: Path) -> None:
    history(240).to_csv(tmp_path / "a.csv", index=False)
    result = run(tmp_path / "a.csv", *outputs(tmp_path), "--json")
    assert result.exit_code == 0, result.output
    scores = pd.read_parquet(tmp_path / "s.parquet")
    assert len(scores) == 240 * len(GPUS)
    assert set(scores["entity"]) == set(GPUS)


def test_same_tables_give_the_same_findings(tmp_path: Path) -> None:
    table = history(240)
    hot = (table["entity"] == GPUS[3]) & (table["signal"] == "gpu_temperature_celsius")
    table.loc[hot & (table["time"] >= T0 + 200 * 60), "value"] += 20
    table.to_csv(tmp_path / "a.csv", index=False)
    shuffled = table.sample(frac=1.0, random_state=4).sort_values("time", kind="stable")
    shuffled.to_csv(tmp_path / "b.csv", index=False)
    for name in ("a.csv", "b.csv", "a.csv"):
        (tmp_path / name[0]).mkdir(exist_ok=True)
        assert run(tmp_path / name, *outputs(tmp_path / name[0]), "--json").exit_code == 0
    first, second = (lines(tmp_path / name / "f.jsonl") for name in "ab")
    assert any(own["entity"] == GPUS[3] for own in first)
    assert sorted(first, key=str) == sorted(second, key=str)


def test_entity_of_no_known_kind_is_a_node_and_keeps_its_name(tmp_path: Path) -> None:
    table = history(60)
    table["entity"] = table["entity"].replace({GPUS[0]: "some folder/host-7.csv"})
    table.to_csv(tmp_path / "a.csv", index=False)
    assert run(tmp_path / "a.csv", *outputs(tmp_path), "--json").exit_code == 0
    scores = pd.read_parquet(tmp_path / "s.parquet")
    assert (scores["entity"] == "some folder/host-7.csv").sum() == 60


def test_unknown_signals_are_refused_with_the_fix(tmp_path: Path) -> None:
    stranger(10, 1).to_csv(tmp_path / "a.csv", index=False)
    result = run(tmp_path / "a.csv")
    assert isinstance(result.exception, TidyError)
    assert "strange metric 0" in str(result.exception)
    assert "--unknown gauge" in str(result.exception)


def test_table_without_a_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,entity,value\n1,a,2\n")
    result = run(tmp_path / "a.csv")
    assert isinstance(result.exception, TidyError)
    assert "a.csv: has no column signal" in str(result.exception)


@pytest.mark.parametrize("more", [["--train"], ["--unknown", "gauge"]])
def test_recordings_take_no_options_of_tables(tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "a.fwrec").write_bytes(b"")
    (tmp_path / "t.csv").write_text("time,entity,signal,value\n")
    own = [*more, tmp_path / "t.csv"] if more == ["--train"] else more
    result = run(tmp_path / "a.fwrec", *own)
    assert result.exit_code == 2
    assert "for tables" in result.output
