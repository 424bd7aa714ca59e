"""Slow degradation: a thermal resistance that creeps up is told, a warm season is not."""

import copy

import numpy as np
import pytest

from detector.families.context import Context
from detector.families.resistance import SIGNAL, Resistance
from detector.series import Series, measure
from detector.verdict.ledger import Ledger
from detector.verdict.tails import Tails
from forewarn.catalogue import CATALOGUE, MOVEMENTS
from forewarn.inventory import Inventory

GPUS = [f"node/n{number}/gpu/0000:1b:00.0" for number in range(8)]
CORE, POWER = "gpu_temperature_celsius", "gpu_power_watts"
KELVIN_PER_WATT = 0.06
DAY = 1440


class Hall:
    """Eight GPUs read once a minute, on jobs that change every half hour."""

    def __init__(self) -> None:
        self.series, ledger = Series(), Ledger()
        self.context = Context(Tails(), self.series, Inventory(), lambda _block, _local: None)
        self.watcher = Resistance("c", self.series, self.context, ledger)
        self.series.place([(name, gpu) for name in (CORE, POWER) for gpu in GPUS])
        self.block, self.random = self.series.blocks[0], np.random.default_rng(3)
        self.minute, self.watts = 0, np.full(8, 80.0)
        self.made = self.random.normal(1, 0.08, 8)
        self.never = np.zeros(8, np.bool_)

    def run(self, minutes: int, worse):
        """Go on; `worse(share of the time)` is the factor on each resistance."""
        found = []
        for turn in range(minutes):
            if self.minute % 30 == 0:
                self.watts = self.random.choice([80.0, 350.0, 620.0], 8)
            factor = self.made * worse(turn / minutes)
            core = 25 + KELVIN_PER_WATT * factor * self.watts + 0.4 * self.random.normal(size=8)
            raw = np.concatenate([np.round(core), self.watts])
            time = np.full(16, 1e9 + 60.0 * self.minute)
            wave = measure(self.block, slice(0, 16), raw, np.ones(16, np.bool_), time,
                           np.zeros(16, np.bool_))  # fmt: skip
            part = self.context.take(wave)
            self.context.score(part)
            self.context.absorb(part, self.never)
            self.context.learn(self.block)
            found += self.watcher.on_tick(time[0])
            self.minute += 1
        return found


def one_worse(most: float):
    return lambda share: 1 + (np.arange(8) == 5) * most * min(1.0, 2 * share)


@pytest.fixture(scope="module")
def learned() -> Hall:
    """Return a hall whose references stand; each test works on a copy."""
    own = Hall()
    assert own.run(DAY + 60, lambda _: 1.0) == []
    return own


def test_resistance_is_measured_in_kelvin_per_watt(learned):
    seen = learned.watcher.measure(learned.block)
    assert seen.reference[:8] == pytest.approx(KELVIN_PER_WATT * learned.made, rel=0.1)
    assert np.abs(seen.change[:8]).max() < 0.03


def test_creeping_resistance_is_told_of_that_device_until_it_is_repaired(learned):
    hall = copy.deepcopy(learned)
    found = hall.run(3 * DAY // 2, one_worse(0.18))
    assert {(f.entity, f.signal, f.movement, f.unit) for f in found} == {
        (GPUS[5], SIGNAL, "up", "kelvin_per_watt")
    }
    assert len({f.id for f in found}) == 1
    assert found[-1].observed == pytest.approx(1.16 * KELVIN_PER_WATT * hall.made[5], rel=0.05)
    assert found[-1].effect > found[0].effect > 1
    assert found[-1].closed_at_unix_nano is None
    assert hall.run(3 * DAY // 2, lambda _: 1.0)[-1].closed_at_unix_nano is not None


def test_what_all_devices_do_alike_is_not_told(learned):
    assert copy.deepcopy(learned).run(DAY, lambda share: 1 + 0.18 * share) == []


def test_replaced_device_begins_with_a_new_reference(learned):
    hall = copy.deepcopy(learned)
    hall.context.renew(hall.block, np.array([5]))
    assert hall.run(60, one_worse(0.18)) == []
    assert np.isnan(hall.watcher.measure(hall.block).change[5])


def test_signal_and_movement_are_of_the_lists():
    assert CATALOGUE[SIGNAL].unit == "kelvin_per_watt"
    assert "context" in MOVEMENTS["up"].families
