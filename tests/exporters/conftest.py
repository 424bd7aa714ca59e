"""Fixtures of exporters' tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporters.collector import Host
from tests.exporters.fakes import Clock, Everything, Line

FIXTURES = Path(__file__).with_name("fixtures")


@pytest.fixture
def everything() -> Everything:
    return Everything()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def line(clock: Clock) -> Iterator[Line]:
    own = Line(clock)
    yield own
    own.spool.close(1.0)


@pytest.fixture
def captured() -> Host:
    """A virtual machine with one drive and one adapter, captured with its kernel 6.18."""
    return Host("node/n7", FIXTURES / "vm/proc", FIXTURES / "vm/sys")


@pytest.fixture
def empty(tmp_path: Path) -> Host:
    """A machine that has nothing."""
    for folder in ("proc", "sys/class/net", "sys/block", "sys/bus/pci/devices"):
        (tmp_path / folder).mkdir(parents=True)
    return Host("node/n7", tmp_path / "proc", tmp_path / "sys")


@pytest.fixture
def put(empty: Host) -> Callable[[str, str], None]:
    """Write a file of the empty machine: `put("proc/stat", "cpu …")`."""

    def write(path: str, text: str) -> None:
        own = empty.proc.parent / path
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(text, encoding="utf-8")

    return write
