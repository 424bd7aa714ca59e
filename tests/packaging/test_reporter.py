"""The reporter's wheel: what is in it, and that it needs nothing else."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import forewarn

ROOT = Path(__file__).parent.parent.parent
SHOW = (
    "import sys; before = set(sys.modules); import forewarn.reporter as r; r.Reporter;"
    "print(r.__file__); print(sorted({n.split('.')[0] for n in set(sys.modules) - before}"
    " - set(sys.stdlib_module_names)))"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the backend of this environment; nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*command, "--directory", str(folder)],
        cwd=ROOT / "packaging/reporter", check=True, capture_output=True,
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


def metadata(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return archive.read(name).decode().splitlines()


def test_wheel_holds_the_reporter_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        code = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert code == {"forewarn/__init__.py", "forewarn/reporter.py", "forewarn/py.typed"}


def test_wheel_needs_nothing_and_fits_an_old_python(wheel: Path) -> None:
    lines = metadata(wheel)
    assert "Name: forewarn-reporter" in lines
    assert f"Version: {forewarn.__version__}" in lines
    assert "Requires-Python: >=3.8" in lines
    assert [line for line in lines if line.startswith("Requires-Dist")] == []
    assert wheel.name.endswith("-py3-none-any.whl")


def test_reporter_imports_with_only_its_wheel_on_the_path(wheel: Path) -> None:
    script = f"import sys; sys.path.insert(0, {str(wheel)!r}); {SHOW}"
    # -I and -S: neither this folder, nor the environment's packages, nor the user's.
    command = [sys.executable, "-I", "-S", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    file, strangers = done.stdout.splitlines()
    assert Path(file) == wheel / "forewarn/reporter.py"
    assert strangers == "['forewarn']"


@pytest.mark.parametrize("name", ["__init__.py", "reporter.py"])
def test_file_of_the_wheel_reads_as_python_3_8(name: str) -> None:
    text = (ROOT / "forewarn" / name).read_text(encoding="utf-8")
    assert ast.parse(text, name, feature_version=(3, 8)).body
