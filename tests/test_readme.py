"""The README is run: every `sh` block, in order, in one shell, in a clean clone."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def _blocks() -> list[str]:
    text = (ROOT / "README.md").read_text()
    return re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short name: the path of a Unix socket holds 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="fw-") as folder:
        yield Path(folder)


@pytest.mark.timeout(540)
def test_every_command_of_the_readme_works_in_a_clean_clone(short: Path) -> None:
    clone = short / "forewarn"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    script = "set -euxo pipefail\n" + "\n".join(_blocks())
    drop = {"VIRTUAL_ENV", "PYTHONPATH", "FOREWARN_CONFIG", "FOREWARN_STATE"}
    environment = {key: value for key, value in os.environ.items() if key not in drop}
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=clone,
        env=environment | {"USER": os.environ.get("USER", "reader")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=500)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with what the blocks left behind
    assert process.returncode == 0, output[-6000:]


def _shape(name: str) -> tuple[list[int], list[str]]:
    text = (ROOT / name).read_text()
    blocks = re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose, re.MULTILINE)]
    links = re.findall(r"\]\(([^)]+)\)", prose)
    return [*levels, len(links), prose.count("\n- ")], blocks


def test_chinese_readme_has_the_same_headings_links_and_blocks() -> None:
    assert _shape("README.md") == _shape("README.zh-CN.md")


def test_readme_has_the_blocks_that_are_run() -> None:
    assert len(_blocks()) >= 5
