"""A model that is taken over while detect runs: new ones are, bad ones are not, nothing is lost."""

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from detector.bundle import ARRAYS, save
from detector.detect import Stage
from detector.families.context import LOADS
from detector.reload import LOOK_SECONDS, Reload
from forewarn.config import Detect, Settings
from forewarn.memory import MemoryBus
from tests.detector.families.test_context import CORE, GPUS, Room
from tests.detector.trained import model_of


@pytest.fixture(scope="module")
def learned():
    room = Room()
    room.cycle(10)
    return room, model_of(room.bench.engine)


class Looking:
    """Looks again and again, on a clock by hand."""

    def __init__(self, path) -> None:
        self.registry, self.now = CollectorRegistry(), 0.0
        self._reload = Reload(str(path), self.registry)

    def look(self):
        self.now += LOOK_SECONDS
        return self._reload.look(self.now)

    def refused(self, reason: str) -> float:
        return self.registry.get_sample_value("forewarn_models_refused_total", {"reason": reason})


def test_new_model_is_handed_over_once(learned, tmp_path):
    _, model = learned
    save(tmp_path, model)
    own = Looking(tmp_path)
    found = own.look()
    assert found is not None
    labels = {"model_id": found.card.model_id, "made_by": "test"}
    assert own.registry.get_sample_value("forewarn_model_info", labels) == 1
    assert own.look() is None
    save(tmp_path, model)
    assert own.look() is not None


def test_bad_model_is_counted_once_and_a_good_one_taken_after_it(learned, tmp_path, caplog):
    _, model = learned
    save(tmp_path, model)
    own = Looking(tmp_path)
    own.look()
    save(tmp_path, model)
    (tmp_path / ARRAYS).write_bytes(b"half a file")
    assert [own.look(), own.look(), own.look()] == [None, None, None]
    assert own.refused("damaged") == 1
    assert "what was learned stays" in caplog.text
    save(tmp_path, model)
    assert own.look() is not None


def test_missing_model_is_told_and_waited_for(learned, tmp_path):
    own = Looking(tmp_path / "model")
    assert own.look() is None
    assert own.refused("missing") == 1
    save(tmp_path / "model", learned[1])
    assert own.look() is not None


def test_without_a_path_there_is_never_a_model():
    assert Reload(Settings(detect=Detect()).detect.model, CollectorRegistry()).look(9e9) is None


def hot(room: Room):
    """Warm up for two minutes, then run a bad heat sink for one and a half."""
    found = [f for _ in range(120) for f in room.second(620.0)]
    return found + [f for _ in range(90) for f in room.second(620.0, 1.6)]


def test_trained_engine_finds_a_fault_minutes_after_its_start_and_names_its_model(
    learned, tmp_path
):
    card = save(tmp_path, learned[1])
    assert hot(Room()) == []
    room = Room()
    room.bench.engine.adopt(Looking(tmp_path).look())
    found = hot(room)
    assert {(f.entity, f.signal, f.family) for f in found} == {(GPUS[3], CORE, "context")}
    assert found[0].model_id == f"context/1@{card.model_id}"


def test_reload_keeps_what_was_learned_and_what_is_open(learned):
    room, model = Room(), learned[1]
    room.cycle(10)
    opened = [f for f in room.cycle(2, 1.8) if f.seq == 1]
    ridge = room.bench.engine.families.context.state(room.bench.engine.series.blocks[0]).ridge
    before = ridge.committed.copy()
    room.bench.engine.adopt(model)
    assert np.array_equal(ridge.committed, before)
    later = room.cycle(2, 1.8)
    assert {f.id for f in later} <= {f.id for f in opened}


def test_unknown_device_of_a_known_model_borrows_its_coefficients(learned):
    room, taught = Room(), learned[0].bench.engine
    engine, stranger = room.bench.engine, "node/n1/gpu/0000:ff:00.0"
    engine.adopt(learned[1])
    for second in range(130):
        room.bench.one(second, {(CORE, stranger): 50.0, ("gpu_power_watts", stranger): 300.0})
    own, theirs = (e.families.context.state(e.series.blocks[0]).ridge for e in (engine, taught))
    usual = np.median(theirs.beta[:, LOADS].sum(axis=1))
    assert own.beta[0, LOADS].sum() == pytest.approx(usual, rel=0.1)
    assert own.ready()[0]


def test_stage_takes_the_model_of_its_settings_before_the_first_frame(learned, tmp_path):
    card = save(tmp_path, learned[1])
    settings = Settings(cluster="c", detect=Detect(listen="127.0.0.1:0", model=str(tmp_path)))
    registry = CollectorRegistry()
    stage = Stage(MemoryBus(), settings, registry)
    assert stage.step(0.0)
    labels = {"model_id": card.model_id, "made_by": "test"}
    assert registry.get_sample_value("forewarn_model_info", labels) == 1
    stage.close()
