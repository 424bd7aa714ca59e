"""`forewarn train` and `forewarn model`: from a table to a model that can be read and compared."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forewarn.cli.main import cli
from tests.detector.training.history import GPUS, T0, history


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("cli")
    table = history(120)
    extra = table.head(5).assign(signal="fancy_metric")
    with (folder / "a.csv").open("w") as file:
        table.to_csv(file, index=False)
        extra.to_csv(file, index=False, header=False)
    return folder / "model", run("train", str(folder / "a.csv"), "--out", str(folder / "model"))


def test_train_says_what_it_read_and_how_it_did(model: tuple[Path, Result]) -> None:
    folder, result = model
    assert result.exit_code == 0, result.output
    assert "fancy_metric: 5 rows left out" in result.stdout
    assert "gpu_temperature_celsius" in result.stdout
    assert sorted(own.name for own in folder.iterdir()) == ["arrays.npz", "card.json"]


def test_show_gives_the_card(model: tuple[Path, Result]) -> None:
    result = run("model", "show", str(model[0]), "--json")
    card = json.loads(result.stdout)
    assert (card["format"], card["version"]) == ("forewarn-model", 1)
    assert (card["from_unix_seconds"], card["series"], card["entities"]) == (T0, 16, len(GPUS))
    assert card["model_id"] in run("model", "show", str(model[0])).stdout


def test_show_refuses_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text("{}")
    result = run("model", "show", str(tmp_path))
    assert result.exit_code == 1
    assert "no model" in str(result.exception)


def test_compare_of_a_model_with_itself_finds_no_change(model: tuple[Path, Result]) -> None:
    folder = str(model[0])
    told = json.loads(run("model", "compare", folder, folder, "--json").stdout)
    assert told["changes"]
    assert {own["ratio"] for own in told["changes"]} == {0.0}
    assert "findings a day" in run("model", "compare", folder, folder).stdout
