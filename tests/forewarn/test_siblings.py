"""Root packages: ours are found, a stranger of the same name is told with its path."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from forewarn.siblings import PACKAGES, shadowed

ROOT = Path(__file__).parent.parent.parent
SHOW = (
    "import json; from forewarn.siblings import shadowed;"
    "print(json.dumps([(s.package, s.found) for s in shadowed()]))"
)


def seen_with(folder: Path) -> list[list[str]]:
    """Return what a fresh process finds shadowed with `folder` first on its path."""
    paths = f"{folder}:{ROOT}"
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        env={"PYTHONPATH": paths}, cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_packages_are_those_of_the_wheel() -> None:
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert list(PACKAGES) == whole["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def test_nothing_is_shadowed_here() -> None:
    assert shadowed() == ()


def test_stranger_is_told_with_its_path(tmp_path: Path) -> None:
    stranger = tmp_path / "exporters/__init__.py"
    stranger.parent.mkdir()
    stranger.write_text("", encoding="utf-8")
    assert seen_with(tmp_path) == [["exporters", str(stranger)]]
