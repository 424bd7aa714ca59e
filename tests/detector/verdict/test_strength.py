"""Strength: one sample is little, what lasts is as strong as it is, an episode counts once."""

import numpy as np
import pytest

from detector.verdict.rates import OWN, Rates
from detector.verdict.strength import NOTE_SECONDS, Strengths, severity

ROWS, YES = np.array([0]), np.array([True])


def f32(value: float) -> np.ndarray:
    return np.array([value], np.float32)


class One:
    """One series, sampled once a second."""

    def __init__(self) -> None:
        self.own, self.rates, self.now = Strengths(), Rates(), 0.0
        self.own.grow(1)

    def step(self, severe: float, times: int = 1) -> float:
        size = f32(0)
        for _ in range(times):
            self.now += 1.0
            size = self.own.move(ROWS, f32(severe), 0.125, YES)
            self.own.end(ROWS, size, np.array([self.now]), self.rates, OWN, ROWS)
        return float(size[0])


@pytest.mark.parametrize(
    ("surprise", "effect", "expected"),
    [(3.0, 1.0, 1.0), (300.0, 1.0, 1.0), (3.0, -40.0, -1.0), (1.5, 9.0, 0.5), (300.0, 0.2, 0.2),
     (300.0, -np.e, -2.0), (0.0, 50.0, 0.0)],
)  # fmt: skip
def test_severity_is_the_weaker_of_surprise_and_effect(surprise, effect, expected):
    assert float(severity(f32(surprise), f32(effect))[0]) == pytest.approx(expected, rel=1e-5)


def test_one_sample_is_little_and_what_lasts_is_all_of_it():
    assert One().step(4.0) == 0.5
    assert One().step(0.8, 60) == pytest.approx(0.8, abs=0.01)


def test_rises_to_both_sides_cancel():
    own = One()
    assert max(own.step(1.0 - 2.0 * (n % 2)) for n in range(60)) < 0.2


def test_episode_is_counted_once_it_is_over():
    own = One()
    own.step(0.8, 40)
    assert own.rates.counts.sum() == 0
    own.step(0.0, 20)
    assert np.flatnonzero(own.rates.counts[OWN, 0]).tolist() == [15]


def test_small_rises_are_no_episodes():
    own = One()
    own.step(0.2, 40)
    own.step(0.0, 40)
    assert own.rates.counts.sum() == 0


def test_series_that_rises_again_and_again_counts_once_in_six_hours():
    own = One()
    for _ in range(5):
        own.step(0.8, 40)
        own.step(0.0, 40)
    assert own.rates.counts.sum() == 1
    own.now += NOTE_SECONDS
    own.step(0.8, 40)
    own.step(0.0, 40)
    assert own.rates.counts.sum() == 2
