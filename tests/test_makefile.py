"""The Makefile: its list, its set-up's messages, and generated code that is fresh."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TARGETS = ("help", "install", "demo", "test", "check", "bench", "gen", "docs", "clean")


def make(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_help_lists_every_target() -> None:
    lines = make("help").stdout.splitlines()
    assert [line.split()[1] for line in lines] == list(TARGETS)
    assert all(len(line.split()) > 2 for line in lines)


def test_plain_make_is_help() -> None:
    assert make().stdout == make("help").stdout


@pytest.mark.parametrize(("arguments", "ends"), [((), "demo"), (("SEED=random",), "random")])
def test_demo_passes_its_seed(arguments: tuple[str, ...], ends: str) -> None:
    shown = make("--dry-run", "demo", *arguments).stdout.rstrip()
    assert shown.split("\n")[-1].split()[-1] == ends
    assert ("--seed" in shown) == bool(arguments)


def python(folder: Path, body: str) -> str:
    """Write something that stands in for a Python interpreter; return its path."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '[ "$1" = --version ] && echo Python 3.9.2; exit 1',
            "needs Python 3.11 or newer; .*3.9.2",
        ),
        ('[ "$1" = -c ]', "on Debian: apt install python3-venv"),
    ],
)
def test_unfit_python_is_told(body: str, message: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    done = make(".venv/.python", f"PYTHON={python(tmp_path, body)}", folder=tmp_path)
    assert done.returncode == 2
    assert re.search(message, done.stderr)
    assert not (tmp_path / ".venv/.python").exists()


def test_generated_wire_is_fresh(tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", f"--python_out={tmp_path}"]
    subprocess.run(
        [*command, f"--mypy_out={tmp_path}", "forewarn/wire.proto"],
        cwd=ROOT, env={"PATH": f"{scripts}:/usr/bin:/bin"}, check=True, capture_output=True,
    )  # fmt: skip
    for name in ("wire_pb2.py", "wire_pb2.pyi"):
        made = (tmp_path / "forewarn" / name).read_text(encoding="utf-8")
        assert (ROOT / "forewarn" / name).read_text(encoding="utf-8") == made, "run: make gen"
