"""Fixtures: the stand-in built once, a fresh state and agent for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.nvml.bench import Bench
from tests.nvml.standin import Standin, build, sysfs


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("new"))


@pytest.fixture(scope="session")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("old"), new=False)


@pytest.fixture
def standin(tmp_path: Path) -> Standin:
    return Standin(tmp_path / "standin.state")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """Start an agent on a node with eight slots: `start(library, standin)`."""
    running: list[Bench] = []
    sysfs(tmp_path / "sys")

    def make(library: Path | None, standin: Standin | None, **env: str) -> Bench:
        running.append(Bench(tmp_path, library, standin, **env))
        return running[-1]

    yield make
    for bench in running:
        bench.close()


@pytest.fixture
def agent(start: Callable[..., Bench], library: Path, standin: Standin) -> Bench:
    """An agent that has read all eight GPUs once and waits for their events."""
    bench = start(library, standin)
    bench.tick()
    standin.watched()
    return bench
