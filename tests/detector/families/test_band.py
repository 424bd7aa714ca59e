"""Levels: what is lasting and large is told, on the bad side only."""

import numpy as np
import pytest

from tests.detector.feed import Bench, event

NODE = "node/n1"
INLET = ("node_inlet_temperature_celsius", NODE)
MEMORY = ("node_memory_available_bytes", NODE)
OPTIC = ("nic_optical_snr_decibels", "node/n1/nic/mlx5_0/port/1")
FREE = ("gpu_memory_free_bytes", "node/n1/gpu/0000:1a:00.0")
FAN = ("node_fan_speed_ratio", NODE)


class Level:
    """One series with a little noise."""

    def __init__(self, pair: tuple[str, str], noise: float = 0.1) -> None:
        self.bench, self.pair, self.noise, self.now = Bench(), pair, noise, 0
        self.random = np.random.default_rng(3)

    def stay(self, seconds: int, level: float):
        found = []
        for _ in range(seconds):
            value = level + self.noise * self.random.normal()
            found += self.bench.one(self.now, {self.pair: value})
            self.now += 1
        return found


def test_step_up_is_told_within_its_persistence():
    own = Level(INLET)
    assert own.stay(400, 24.0) == []
    (found,) = own.stay(6, 40.0)
    assert (found.signal, found.family, found.movement) == (INLET[0], "band", "step_up") or (
        found.movement == "up"
    )
    assert found.expected == pytest.approx(24.0, abs=0.5)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 24 < found.high < found.observed
    assert found.effect > 1
    assert found.unit == "celsius"


def test_change_below_the_effect_floor_is_not_told():
    own = Level(INLET, noise=0.01)
    own.stay(400, 24.0)
    assert own.stay(400, 28.0) == []


def test_good_side_is_not_told():
    own = Level(INLET)
    own.stay(400, 24.0)
    assert own.stay(200, 5.0) == []


def test_short_excursion_is_not_told():
    own = Level(INLET)
    own.stay(400, 24.0)
    assert own.stay(1, 60.0) == []
    assert own.stay(100, 24.0) == []


def test_level_during_warm_up_is_learned_not_judged():
    own = Level(INLET)
    own.stay(60, 24.0)
    assert own.stay(60, 50.0) == []


def test_signal_that_cannot_be_bad_is_not_scored():
    own = Level(FREE, noise=1e6)
    own.stay(400, 5e10)
    assert own.stay(200, 0.0) == []


def test_finding_closes_when_the_level_is_back():
    own = Level(INLET)
    own.stay(400, 24.0)
    opened = own.stay(60, 40.0)
    closed = [f for f in own.stay(200, 24.0) if f.closed_at_unix_nano is not None]
    assert [f.id for f in closed] == [opened[0].id]


def test_open_finding_is_told_at_most_once_a_minute_unless_it_doubles():
    own = Level(INLET)
    own.stay(400, 24.0)
    found = own.stay(600, 40.0)
    assert 2 <= len(found) <= 12
    assert [f.seq for f in found] == list(range(1, len(found) + 1))


def test_a_fault_does_not_become_normal_while_it_is_flagged():
    own = Level(INLET)
    own.stay(400, 24.0)
    own.stay(1200, 40.0)
    slow = own.stay(120, 40.0)
    assert slow[-1].expected == pytest.approx(24.0, abs=1.5)


def test_single_outlier_moves_nothing():
    own = Level(INLET)
    own.stay(400, 24.0)
    own.stay(1, 1e9)
    own.stay(300, 24.0)
    found = own.stay(30, 40.0)
    assert found[0].expected == pytest.approx(24.0, abs=0.5)


def test_load_signal_is_judged_only_while_a_job_runs():
    own = Level(FAN, noise=0.005)
    own.stay(400, 0.4)
    assert own.stay(200, 0.9) == []


def test_slow_drift_is_told_as_up():
    own = Level(INLET)
    own.stay(900, 24.0)
    found = []
    for step in range(100):
        found += own.stay(10, 24.0 + 0.2 * step)
    assert found[0].movement == "up"


def test_readings_of_the_same_entity_stand_beside():
    bench = Bench()
    values = {INLET: 24.0, MEMORY: 1e12}
    bench.run(range(400), values)
    found = bench.run(range(400, 430), {**values, INLET: 40.0})
    assert {r.signal for r in found[0].readings} == {INLET[0], MEMORY[0]}


def test_event_of_another_entity_changes_nothing():
    own = Level(INLET)
    own.stay(400, 24.0)
    own.bench.event(event(own.now, "job/a", "job.state:running"))
    assert own.stay(20, 40.0)
