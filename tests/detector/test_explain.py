"""Explanations: what was expected, of what it was made, and what stood open at that time."""

import pytest

from detector.explain import NotJudgedError, of_recording
from detector.training.explain import of_tables
from tests.detector.families.test_context import CORE, GPUS, POWER, Room
from tests.detector.feed import T0
from tests.detector.training.history import GPUS as OTHERS
from tests.detector.training.history import T0 as BEGIN
from tests.detector.training.history import history

HEALTHY_MINUTES = 10


@pytest.fixture(scope="module")
def messages():
    """Return ten healthy minutes and two of a bad heat sink, as a recording holds them."""
    room, kept = Room(), []
    room.bench.feed = lambda *own: kept.extend(own) or []
    room.cycle(HEALTHY_MINUTES)
    room.cycle(2, 1.8)
    return kept


def explained(messages, entity, at=None, signal=CORE):
    return of_recording(messages, "c", entity, signal, at, window_seconds=60.0)


def test_fault_is_explained_by_load_and_its_finding_stands_beside_it(messages):
    own = explained(messages, GPUS[3])
    assert own.family == "context"
    assert own.observed > own.high > own.expected > own.low
    assert [f.signal for f in own.findings if f.family == "context"] == [CORE]
    assert own.effect > 1
    assert own.surprise > 3


def test_parts_of_the_inputs_sum_to_what_was_expected(messages):
    own = explained(messages, GPUS[0])
    assert sum(given.part for given in own.inputs) == pytest.approx(own.expected, abs=0.01)
    assert [given.name for given in own.inputs[1:3]] == [POWER, f"{POWER}, 10 s lag"]
    assert 100 < own.inputs[1].value < 700


def test_earlier_time_knows_nothing_of_what_came_after_it(messages):
    at = T0 + 60.0 * HEALTHY_MINUTES - 5
    own = explained(messages, GPUS[3], at)
    assert own.at_unix_seconds == pytest.approx(at, abs=1)
    assert own.low < own.observed < own.high
    assert own.findings == ()


def test_points_cover_the_window_before_that_time(messages):
    own = explained(messages, GPUS[1])
    assert own.points[-1].unix_seconds == own.at_unix_seconds
    assert own.at_unix_seconds - own.points[0].unix_seconds == pytest.approx(60, abs=1.5)
    assert own.learned_from_unix_seconds == pytest.approx(T0 + 1, abs=1.5)


def test_series_that_nobody_judges_is_said_to_be_so(messages):
    with pytest.raises(NotJudgedError, match="no learned family"):
        explained(messages, "node/other/gpu/0")


def test_tables_are_explained_likewise(tmp_path):
    history(200).to_csv(tmp_path / "a.csv", index=False)
    at = BEGIN + 150 * 60.0
    own = of_tables([tmp_path / "a.csv"], OTHERS[2], CORE, at, 1800.0)
    assert (own.family, own.at_unix_seconds) == ("context", at)
    assert own.low < own.observed < own.high
    assert len(own.points) == 31
