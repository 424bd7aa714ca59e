"""An entity as a whole: signals that stop fitting each other are found, each alone being normal."""

import numpy as np
import pytest

from detector.families.joint import WINDOW, Follower, Tail, fuse, score
from detector.training.joint import LEAST_READINGS, fit

SIGNALS = tuple("abcdef")


def history(count: int, seed: int) -> np.ndarray:
    """Return readings of six signals that follow two hidden ones."""
    random = np.random.default_rng(seed)
    time = np.arange(count)
    hidden = np.column_stack([np.sin(time / 30) + 0.1 * random.normal(size=count),
                              np.sin(time / 11) + 0.1 * random.normal(size=count)])  # fmt: skip
    mix = np.array([[1, 0], [1, 0.2], [0, 1], [0.3, 1], [1, 1], [1, -1]]).T
    return 50 + 10 * hidden @ mix + 0.5 * random.normal(size=(count, 6))


@pytest.fixture(scope="module")
def model():
    return fit(SIGNALS, history(4000, 1), 60.0)


def surprises(model, readings):
    lead = np.repeat(readings[:1], WINDOW - 1, axis=0)
    return fuse(model, score(model, np.vstack([lead, readings])))


def test_history_that_was_not_seen_is_normal(model):
    fused, leap = surprises(model, history(4000, 2))
    days = 4000 * 60 / 86_400
    assert np.mean(fused >= model.fused_limit) * 4000 < 20 * days
    assert np.median(fused) < 1
    assert np.median(leap) < 1


def test_signals_that_part_are_found_though_each_is_in_its_range(model):
    readings = history(1000, 3)
    sick = readings.copy()
    sick[600:, 0] = readings[:400, 0]  # of another time: its range, not its place
    fused, _ = surprises(model, sick)
    assert (fused[600:630] >= model.fused_limit).mean() > 0.5
    assert fused[600:].mean() > 5 * fused[:600].mean()


def test_leap_is_seen_at_once(model):
    readings = history(500, 4)
    readings[300, 2] += 15
    _, leap = surprises(model, readings)
    assert leap[300] >= model.leap_limit
    assert int(np.argmax(leap)) in {300, 301}


def test_reading_by_reading_is_as_all_at_once(model):
    readings = history(200, 5)
    own = Follower(model)
    one_by_one = [own.push(row)[:2] for row in readings]
    np.testing.assert_allclose(one_by_one, np.column_stack(surprises(model, readings)), rtol=1e-6)


def test_missing_readings_keep_their_last_value(model):
    own, readings = Follower(model), history(100, 6)
    for row in readings:
        own.push(row)
    fused, _, _ = own.push(np.full(6, np.nan))
    assert np.isfinite(fused)


def test_part_names_the_signal_that_is_off(model):
    own, readings = Follower(model), history(100, 7)
    for row in readings:
        own.push(row)
    last = readings[-1].copy()
    last[4] += 40
    assert int(np.argmax(own.push(last)[2])) == 4


KNOWN = ("gpu_power_watts", "gpu_temperature_celsius")


@pytest.mark.parametrize(("names", "count"), [(SIGNALS, LEAST_READINGS - 1), (KNOWN, 4000)])
def test_too_little_to_learn_from_gives_no_model(names, count):
    assert fit(names, np.ones((count, len(names))), 60.0) is None


def test_single_signal_that_nobody_described_is_judged_by_its_course():
    model = fit(("a",), history(3000, 1)[:, :1], 60.0)
    readings = history(1000, 2)[:, :1]
    readings[500:540] = 100 - readings[500:540]  # its range, turned over
    fused, _ = surprises(model, readings)
    assert fused[500:540].max() > 5 * np.median(fused[:500])


def test_constant_signals_do_no_harm():
    readings = history(2000, 8)
    readings[:, 3] = 7.0
    model = fit(SIGNALS, readings, 60.0)
    fused, _ = surprises(model, readings[:500])
    assert np.isfinite(fused).all()


def test_tail_goes_on_beyond_what_was_seen():
    own = Tail(np.sort(np.random.default_rng(1).exponential(size=5000)), 1.0)
    near, far, farther = own.surprise(np.array([1.0, 12.0, 24.0]))
    assert near == pytest.approx(-np.log10(np.exp(-1.0)), abs=0.05)
    assert near < far < farther <= 300
