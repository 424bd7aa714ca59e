"""The detector knows signals and codes, not the faults that the simulator plays."""

import re
from pathlib import Path

import pytest

import detector
import runbooks
from simulator.faults import FAULTS

SOURCES = sorted(Path(detector.__file__).parent.rglob("*.py")) + sorted(
    Path(runbooks.__file__).parent.rglob("*.py")
)


@pytest.mark.parametrize("mode", sorted(FAULTS))
def test_no_code_of_the_detector_names_a_fault(mode):
    pattern = re.compile(rf"(?<![a-z0-9_]){re.escape(mode)}(?![a-z0-9_])", re.IGNORECASE)
    found = [str(path) for path in SOURCES if pattern.search(path.read_text("utf-8"))]
    assert found == []


def test_no_code_of_the_detector_imports_the_simulator():
    found = [p for p in SOURCES if re.search(r"(?:import|from) simulator", p.read_text("utf-8"))]
    assert found == []


def test_all_of_the_detector_is_searched():
    names = {path.name for path in SOURCES}
    assert {"engine.py", "peers.py", "rank.py", "join.py"} <= names
