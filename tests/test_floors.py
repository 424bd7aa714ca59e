"""The floors hold: each import contract is kept, and catches an import planted against it."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINTER = SETTINGS["tool"]["importlinter"]

# contract -> (module that gets the line, the line that must not stand there)
PLANTED = {
    "The ground floor knows no house": ("forewarn/entity.py", "import detector.engine"),
    "The CLI is the roof: no house imports it": (
        "exporters/agent.py",
        "import forewarn.cli.main",
    ),
    "Houses do not import one another": ("exporters/agent.py", "import detector.engine"),
    "runbooks imports the ground floor only": ("runbooks/model.py", "import simulator"),
    "runbooks is seen by incidents, notify and the CLI only": (
        "detector/engine.py",
        "import runbooks.model",
    ),
    "decide never imports detect": ("detector/incidents/join.py", "import detector.engine"),
    "pandas and scikit-learn live in training only": ("detector/series.py", "import pandas"),
    "kafka-python is imported in forewarn.kafka only": ("exporters/agent.py", "import kafka"),
    "The ground floor is light: no numpy, no YAML": ("forewarn/entity.py", "import numpy"),
    "The NVIDIA library is imported in its collector only": (
        "detector/series.py",
        "import pynvml",
    ),
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Return a copy of all packages that may be spoilt."""
    for package in LINTER["root_packages"]:
        code_only = shutil.ignore_patterns("__pycache__", "*.yaml", "*.json", "*.csv")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=code_only)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(house: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    # Its own folder goes first on the path, before the packages of this environment.
    environment = {"PYTHONPATH": str(house), "PATH": "/usr/bin:/bin", "COLUMNS": "400"}
    return subprocess.run(
        command, cwd=house, env=environment, capture_output=True, text=True, check=False
    )


def broken(output: str) -> set[str]:
    """Return the contracts that the report calls broken."""
    lines = [line.strip() for line in output.splitlines()]
    return {name for name in contracts() for line in lines if line.startswith(f"{name} BROKEN")}


def contracts() -> list[str]:
    return [contract["name"] for contract in LINTER["contracts"]]


def test_every_contract_has_a_planted_import() -> None:
    assert list(PLANTED) == contracts()


def test_contracts_are_kept(house: Path) -> None:
    result = lint(house)
    assert result.returncode == 0, result.stdout
    assert f"{len(PLANTED)} kept, 0 broken" in result.stdout


@pytest.mark.parametrize("contract", PLANTED)
def test_planted_import_breaks_its_contract(contract: str, house: Path) -> None:
    module, line = PLANTED[contract]
    path = house / module
    path.write_text(f"{line}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    result = lint(house)
    assert result.returncode == 1, result.stdout + result.stderr
    assert contract in broken(result.stdout)
