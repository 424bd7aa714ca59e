"""Surprise: conservative before there is data, calibrated after."""

from itertools import pairwise

import numpy as np
import pytest

from detector.series import CLASS
from detector.verdict.tails import MAX_SURPRISE, Tails

KLASS = CLASS["gpu_temperature_celsius"]


def _surprise(tails: Tails, z: float, klass: int = KLASS) -> float:
    return float(tails.surprise(np.array([klass], np.int16), np.array([z], np.float32))[0])


def _learn(tails: Tails, draw, count: int) -> None:
    z = draw(count).astype(np.float32)
    tails.observe(np.full(count, KLASS, np.int16), z, np.ones(count, np.bool_))
    tails.rebuild()


def test_before_any_data_the_prior_is_heavier_than_a_normal_tail():
    assert 2.0 < _surprise(Tails(), 4.0) < 4.5  # a normal one would say 4.5


def test_nothing_is_no_surprise():
    assert _surprise(Tails(), -5.0) == 0.0
    assert _surprise(Tails(), float("nan")) == 0.0


def test_surprise_never_falls_as_residuals_grow():
    tails = Tails()
    _learn(tails, lambda n: np.abs(np.random.default_rng(1).normal(size=n)), 50_000)
    curve = [_surprise(tails, z) for z in np.arange(0, 40, 0.125)]
    assert all(later >= earlier for earlier, later in pairwise(curve))
    assert curve[-1] <= MAX_SURPRISE


def test_share_of_rare_samples_is_what_it_says():
    """With enough data the share of p < 0.01 on fresh samples is near 1 %."""
    random, tails = np.random.default_rng(1), Tails()
    draw = lambda n: np.abs(random.standard_t(4, size=n))  # noqa: E731
    _learn(tails, draw, 400_000)
    fresh = draw(100_000).astype(np.float32)
    surprise = tails.surprise(np.full(len(fresh), KLASS, np.int16), fresh)
    assert (surprise >= 2.0).mean() == pytest.approx(0.01, rel=0.3)


def test_heavy_class_is_less_surprised_and_others_are_untouched():
    tails = Tails()
    before = _surprise(tails, 8.0)
    random = np.random.default_rng(1)
    _learn(tails, lambda n: np.abs(5 * random.standard_t(3, size=n)), 50_000)
    assert _surprise(tails, 8.0) < before
    assert _surprise(tails, 8.0, KLASS + 1) == before


def test_order_of_observation_does_not_matter():
    z = np.abs(np.random.default_rng(1).normal(size=1000)).astype(np.float32)
    klass, every = np.full(1000, KLASS, np.int16), np.ones(1000, np.bool_)
    one, two = Tails(), Tails()
    one.observe(klass, z, every)
    two.observe(klass, z[::-1], every)
    np.testing.assert_array_equal(one.counts, two.counts)
