"""Episodes become rates: tails that go on, levels that move with the budget, nothing too early."""

import numpy as np
import pytest

from detector.series import CLASS, SIGNALS
from detector.verdict.rates import BINS, OWN, STEP, TWINS, Rates, fit, per_day

CORE, DAY = "gpu_temperature_celsius", 86_400.0
PRESENT = np.ones(len(SIGNALS), np.bool_)


def binned(peaks: np.ndarray) -> np.ndarray:
    bins = np.minimum(peaks / STEP, BINS - 1).astype(int)
    return np.bincount(bins, minlength=BINS).astype(float)


def learned(scale: float, episodes: int = 2000, days: float = 10.0) -> Rates:
    rates = Rates()
    peaks = 0.25 + np.random.default_rng(1).exponential(scale, episodes)
    rates.pass_time(days * DAY, PRESENT)
    rates.note(OWN, np.full(episodes, CLASS[CORE]), peaks.astype(np.float32))
    return rates


@pytest.mark.parametrize("shape", [0.0, 0.2, 0.4])
def test_tail_goes_on_as_the_history_that_made_it(shape: float):
    random = np.random.default_rng(3).uniform(size=20_000)
    excess = -np.log(random) if shape == 0 else (random**-shape - 1) / shape
    peaks = 0.25 + 0.2 * excess
    tail = fit(binned(peaks[:2000]))
    assert tail is not None
    for strength in (1.0, 1.5):
        held = float(tail.beyond(np.array([strength]))[0]) * 10
        assert held == pytest.approx(float((peaks >= strength).sum()), rel=0.8, abs=8)


def test_rate_falls_with_strength_and_is_never_nothing():
    row = per_day(binned(np.array([0.3, 0.4, 0.4, 0.9])), days=2.0)
    assert (np.diff(row) <= 1e-12).all()
    assert row[-1] > 0


def test_class_without_any_episode_is_rarer_with_its_history():
    short, long = (per_day(np.zeros(BINS), days)[20] for days in (1.0, 30.0))
    assert 0 < long < short < 0.2


def test_rates_are_not_told_before_a_day():
    rates = learned(0.1, days=0.9)
    rates.rebuild(1.0)
    assert rates.per_day(OWN, CORE, 1.0) is None
    assert np.isinf(rates.levels).all()


def test_level_falls_with_the_budget_and_rises_with_the_noise():
    def level(scale: float, budget: float) -> float:
        rates = learned(scale)
        rates.rebuild(budget)
        return float(rates.levels[OWN, CLASS[CORE]])

    assert level(0.2, 10.0) < level(0.2, 1.0) < level(0.2, 0.1)
    assert level(0.05, 1.0) < level(0.2, 1.0) < level(0.4, 1.0)


def test_classes_are_apart():
    rates = learned(0.3)
    rates.rebuild(1.0)
    other = rates.per_day(TWINS, CORE, 1.0)
    mine = rates.per_day(OWN, CORE, 1.0)
    assert mine is not None
    assert other is not None
    assert mine > 100 * other


def test_old_episodes_are_forgotten():
    rates = learned(0.3)
    for _ in range(120):
        rates.pass_time(DAY, PRESENT)
    assert rates.counts.sum() < 2000 * 0.03
    assert rates.days[OWN, CLASS[CORE]] == pytest.approx(30, rel=0.1)
