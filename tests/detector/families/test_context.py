"""Temperature explained by load now and before: what load does not explain is told."""

import numpy as np
import pytest

from detector.families.ridge import Ridge
from tests.detector.feed import Bench

GPUS = [f"node/n1/gpu/0000:{slot:02x}:00.0" for slot in range(8)]
CORE, POWER = "gpu_temperature_celsius", "gpu_power_watts"


class Room:
    """Eight GPUs whose temperature follows power through two time constants."""

    def __init__(self, seed: int = 2) -> None:
        self.bench, self.random, self.now = Bench(), np.random.default_rng(seed), 0
        self.near = self.far = np.full(8, 80.0)
        self.place = self.random.normal(0, 3, 8)

    def second(self, watts: float, worse: float = 1.0):
        power = watts * (1 + 0.01 * self.random.normal(size=8))
        self.near = self.near + (power - self.near) / 40
        self.far = self.far + (power - self.far) / 150
        resistance = np.ones(8)
        resistance[3] = worse
        heat = 0.02 * power + 0.025 * self.near * resistance + 0.02 * self.far
        core = np.round(25 + self.place + heat + 0.2 * self.random.normal(size=8))
        values = {(CORE, gpu): float(core[i]) for i, gpu in enumerate(GPUS)}
        values |= {(POWER, gpu): float(power[i]) for i, gpu in enumerate(GPUS)}
        self.now += 1
        return self.bench.one(self.now, values)

    def cycle(self, minutes: int, worse: float = 1.0):
        """Work for 100 s, pause for 20 s, again and again."""
        found = []
        for second in range(minutes * 60):
            found += self.second(120.0 if second % 120 >= 100 else 620.0, worse)
        return found


def test_load_that_comes_and_goes_is_explained():
    assert Room().cycle(20) == []


def test_load_never_seen_before_raises_nothing():
    room = Room()
    room.cycle(10)
    found = [f for _ in range(600) for f in room.second(80.0)]
    assert found == []


@pytest.mark.parametrize("worse", [1.35, 2.0])
def test_worse_cooling_of_one_device_is_told_on_that_one_only(worse):
    room = Room()
    room.cycle(10)
    found = room.cycle(3, worse)
    assert {(f.entity, f.signal, f.movement, f.family) for f in found} == {
        (GPUS[3], CORE, "up", "context")
    }
    assert found[0].observed > found[0].high


def test_better_cooling_is_not_told():
    room = Room()
    room.cycle(10)
    assert room.cycle(3, 0.5) == []


def test_fault_is_not_learned_while_it_lasts():
    room = Room()
    room.cycle(10)
    room.cycle(25, 1.8)
    found = room.cycle(5, 1.8)
    assert found[-1].closed_at_unix_nano is None
    assert found[-1].effect > 1


def test_without_power_the_band_keeps_the_temperature():
    bench = Bench()
    bench.run(range(20), {(CORE, GPUS[0]): 50.0})
    block = bench.engine.series.blocks[0]
    assert bench.engine.families.band.state(block).banded[0]


def test_ridge_finds_coefficients_within_devices():
    """Devices differ by their place far more than load moves them: that must not bend the slope."""
    random = np.random.default_rng(1)
    ridge = Ridge(2)
    ridge.add([0] * 20)
    place = random.normal(0, 30, 20)
    for _ in range(4):
        for _ in range(60):
            load = random.uniform(0, 2, 20)
            x = np.column_stack([np.ones(20), load])
            level = place + 5 * load
            every = np.ones(20, np.bool_)
            ridge.absorb(x, level, np.zeros(20), every, ~every)
        ridge.learn()
    assert ridge.beta[:, 1] == pytest.approx(np.full(20, 5.0), abs=0.1)
    assert ridge.beta[:, 0] == pytest.approx(place, abs=0.2)


def test_ridge_widens_its_scale_where_it_has_not_been():
    random = np.random.default_rng(1)
    ridge = Ridge(2)
    ridge.add([0])
    one = np.ones(1, np.bool_)
    for _ in range(3):
        for _ in range(60):
            x = np.array([[1.0, 1 + 0.01 * random.normal()]])
            ridge.absorb(x, np.array([5.0]), np.zeros(1), one, ~one)
        ridge.learn()
    near = ridge.expect(np.array([[1.0, 1.0]]), one)[1]
    far = ridge.expect(np.array([[1.0, 9.0]]), one)[1]
    assert far[0] > 3 * near[0]


def test_ridge_cuts_out_the_minutes_before_a_fault():
    ridge = Ridge(1)
    ridge.add([0])
    one = np.ones(1, np.bool_)

    def minute(level: float, held: bool) -> None:
        for _ in range(60):
            ridge.absorb(np.ones((1, 1)), np.array([level]), np.zeros(1), one & (not held),
                         one & held)  # fmt: skip
        ridge.learn()

    for _ in range(10):
        minute(50.0, held=False)
    for _ in range(6):
        minute(70.0, held=False)  # the onset, before anybody flagged it
    minute(80.0, held=True)
    for _ in range(15):
        minute(50.0, held=False)
    assert ridge.beta[0, 0] == pytest.approx(50.0, abs=0.5)


NODE, FAN, DRAW = "node/n1", "node_fan_speed_ratio", "node_power_watts"


def blown(fan_of: "list[float]", *, warm_minutes: int, watts_then: float = 6200.0):
    """Run a node whose fan follows its power for a while, then shows `fan_of`; return findings."""
    bench, random, found = Bench(), np.random.default_rng(4), []
    slow = 1500.0
    for turn in range(warm_minutes * 6):
        watts = 1500.0 if turn % 30 >= 24 else 6200.0
        slow += (watts - slow) / 3
        fan = round(min(0.25 + slow / 12_000 + 0.004 * random.normal(), 1.0), 2)
        found += bench.one(10 * turn, {(FAN, NODE): fan, (DRAW, NODE): watts})
    assert found == []
    for turn, fan in enumerate(fan_of, warm_minutes * 6):
        found += bench.one(10 * turn, {(FAN, NODE): fan, (DRAW, NODE): watts_then})
    return found


def test_fan_effort_at_given_power_tells_where_the_fan_holds_the_temperature():
    found = blown([0.99] * 12, warm_minutes=40)
    assert [(f.entity, f.signal, f.family, f.movement) for f in found[:1]] == [
        (NODE, FAN, "context", "up")
    ]


def test_fan_too_slow_for_its_power_is_told():
    assert blown([0.40] * 12, warm_minutes=40)[0].movement == "down"


def test_fan_at_its_end_is_not_told_as_too_slow():
    """More power than ever asks for more than there is: 100 % is no failing fan."""
    assert blown([1.0] * 18, warm_minutes=40, watts_then=16_000.0) == []


def test_rows_with_slowed_clocks_are_not_learned():
    room = Room()
    block = room.bench.engine
    room.cycle(6)
    ridge = block.families.context.state(block.series.blocks[0]).ridge
    values = {("gpu_clock_event_reasons", gpu): 64.0 for gpu in GPUS}
    for _ in range(60):
        room.second(620.0)
    before = ridge.minute[:, -3].copy()
    room.bench.one(room.now, values, source="other")
    for _ in range(20):
        room.second(620.0)
    assert np.array_equal(ridge.minute[:, -3], before)


def test_fan_at_its_lowest_speed_while_little_is_drawn_is_not_told():
    """A job that stands still: the curve ends at a lowest speed, below what load lets expect."""
    assert blown([0.05] * 40, warm_minutes=60, watts_then=2000.0) == []


def test_fan_at_its_lowest_speed_is_not_too_fast_for_what_little_is_drawn():
    """Far below what was learned a straight line expects less than no air at all."""
    assert blown([0.5] * 40, warm_minutes=60, watts_then=300.0) == []
