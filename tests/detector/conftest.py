"""Fixtures of decide's tests."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forewarn.records import InventoryItem
from tests.detector import samples
from tests.detector.desk import Stage

MakeStage = Callable[..., Stage]


@pytest.fixture
def make_stage(tmp_path: Path) -> Iterator[MakeStage]:
    """Make a stage on the test's own database; all are closed at the end."""
    with contextlib.ExitStack() as held:

        def make(items: list[InventoryItem] | None = None, **more: object) -> Stage:
            known = samples.inventory() if items is None else items
            own = Stage(tmp_path / "decide.sqlite", items=known, **more)  # type: ignore[arg-type]
            held.callback(own.close)
            return own

        yield make


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    """Decide on 64 GPUs of one job, with the runbook that is shipped."""
    return make_stage()
