"""Hours of the day are learned only where the last days bear them out."""

import numpy as np
import pytest

from detector.training.seasons import Seasons

INLET, CORE = "node_inlet_temperature_celsius", "gpu_temperature_celsius"
NAMES = ((INLET, "node/n1"), (INLET, "node/n2"), (CORE, "node/n1/gpu/0"))
DAY = 86_400


def fill_and_test(of_hour, days=10, seed=0):
    """Fill days with a reading every ten minutes and test; `of_hour(hours)` is added to a level."""
    random, seconds = np.random.default_rng(seed), np.arange(0, days * DAY, 600.0)
    own = Seasons()
    for at in range(len(NAMES)):
        values = 24 + at + of_hour(seconds / 3600) + 0.3 * random.normal(size=len(seconds))
        own.add(NAMES, np.full(len(seconds), at), 1_767_225_600 + seconds, values)
    return own.test()


def swing(hours):
    return 3 * np.sin(2 * np.pi * hours / 24)


def test_daily_swing_is_found_with_its_hours():
    season, hours = fill_and_test(swing)[INLET]
    assert season.used
    assert season.explained_ratio > 0.9
    assert hours == pytest.approx(swing(np.arange(24) + 0.5), abs=0.4)


def test_noise_is_no_season():
    season, hours = fill_and_test(lambda hours: 0 * hours)[INLET]
    assert not season.used
    assert not hours.any()


def test_swing_that_stops_before_the_last_days_is_no_season():
    assert not fill_and_test(lambda hours: swing(hours) * (hours < 7 * 24))[INLET][0].used


def test_swing_too_small_to_change_a_verdict_is_left_out():
    assert not fill_and_test(lambda hours: 0.1 * swing(hours))[INLET][0].used


def test_week_is_needed_and_what_jobs_explain_is_not_fill_and_test():
    assert fill_and_test(swing, days=5) == {}
    assert CORE not in fill_and_test(swing)


def test_one_faulty_day_in_ten_does_not_bend_the_hours():
    hours = fill_and_test(lambda own: swing(own) + 20 * ((own >= 48) & (own < 54)))[INLET][1]
    assert hours == pytest.approx(swing(np.arange(24) + 0.5), abs=0.6)
