"""k of n, alike, large enough; calm ends it."""

import numpy as np
import pytest

from detector.families.contract import Score
from detector.series import Series, Wave
from detector.verdict.persistence import FREEZE_SECONDS, NEEDS, Persistence
from forewarn.catalogue import CATALOGUE

BY_PERIOD = {1: "gpu_temperature_celsius", 10: "node_inlet_temperature_celsius",
             60: "nic_optical_temperature_celsius"}  # fmt: skip


class One:
    """One series and its register."""

    def __init__(self, period: int = 1) -> None:
        series = Series()
        name = BY_PERIOD[period]
        assert CATALOGUE[name].period_seconds == period
        series.place([(name, f"{CATALOGUE[name].entity}/x".replace("nic_port", "nic"))])
        self.block, self.persistence, self.now = series.blocks[0], Persistence(), 0.0

    def step(self, effect: float, surprise: float = 9.0, *, mask: bool = True, ready: bool = True):
        f32 = lambda value: np.array([value], np.float32)  # noqa: E731
        yes = lambda value: np.array([value], np.bool_)  # noqa: E731
        self.now += 1.0
        wave = Wave(
            self.block, slice(0, 1), f32(0), f32(0), f32(1), np.array([self.now]), yes(mask)
        )
        score = Score(f32(surprise), f32(effect), f32(0), f32(1), yes(ready), yes(True))
        judged = self.persistence.step(wave, score)
        if judged.begins[0]:
            self.persistence.open(self.block, 0, self.now)
        return judged

    def until_open(self, **how) -> int | None:
        for count in range(1, 40):
            if self.step(2.0, **how).begins[0]:
                return count
        return None


@pytest.mark.parametrize("period", [1, 10, 60])
def test_opens_after_k_samples_of_its_period(period):
    assert One(period).until_open() == NEEDS[period].k


def test_common_residual_never_opens():
    assert One().until_open(surprise=2.0) is None


def test_series_in_warm_up_never_opens():
    assert One().until_open(ready=False) is None


def test_effect_below_the_floor_never_opens():
    own = One()
    assert not any(own.step(0.9).begins[0] for _ in range(40))


def test_sides_that_alternate_never_open():
    own = One()
    assert not any(own.step(2.0 if i % 2 else -2.0).begins[0] for i in range(60))


def test_missing_samples_do_not_count_against_it():
    own = One()
    for _ in range(NEEDS[1].k - 1):
        own.step(2.0)
        own.step(2.0, mask=False)
    assert own.step(2.0).begins[0]


def test_open_series_ends_after_its_calm_samples():
    own = One()
    own.until_open()
    ended = [own.step(0.0).ends[0] for _ in range(NEEDS[1].calm)]
    assert ended == [False] * (NEEDS[1].calm - 1) + [True]


def test_learning_is_frozen_while_open_and_not_for_ever():
    own = One()
    own.until_open()
    assert own.step(2.0).frozen[0]
    own.now += FREEZE_SECONDS
    own.step(0.0)
    own.step(0.0)
    assert not own.step(0.0).frozen[0]
