"""A step with more tokens takes longer; what is left over is judged."""

import math

import numpy as np
import pytest

from detector.families.pace import Rule, Trend

STEP = Rule("step_up", 1.10, power=1.0)


def trend_of(rule: Rule = STEP) -> Trend:
    return Trend(rule)


def lengths(count: int, seed: int = 3) -> list[float]:
    """Return tokens per step of sequences whose length differs from step to step."""
    return np.random.default_rng(seed).uniform(0.75e6, 1.25e6, count).tolist()


def seconds(tokens: float, power: float, seed: int) -> float:
    noise = 1 + 0.01 * np.random.default_rng(seed).normal()
    return float(2.0 * (tokens / 1e6) ** power * noise)


@pytest.mark.parametrize("power", [0.6, 1.0, 1.6])
def test_steps_that_follow_their_tokens_are_normal(power):
    own = trend_of()
    wrong = [own.push(seconds(t, power, i), t) for i, t in enumerate(lengths(400))]
    assert not any(wrong)
    assert own.spread < 0.03


def test_without_tokens_the_same_steps_spread_widely():
    own = trend_of()
    for i, t in enumerate(lengths(400)):
        own.push(seconds(t, 1.0, i))
    assert own.spread > 0.1


def test_slow_steps_are_found_among_steps_of_any_length():
    own, sizes = trend_of(), lengths(300)
    for i, t in enumerate(sizes[:200]):
        own.push(seconds(t, 1.0, i), t)
    wrong = [own.push(1.2 * seconds(t, 1.0, i), t) for i, t in enumerate(sizes[200:])]
    assert any(wrong[:10])
    assert own.effect() > 1.0


def test_expected_is_that_of_a_step_as_large():
    own = trend_of()
    for i, t in enumerate(lengths(200)):
        own.push(seconds(t, 1.0, i), t)
    own.push(2.4, 1.2e6)
    assert own.expected == pytest.approx(2.4, rel=0.02)


def test_longer_sequences_from_now_on_are_learned_anew():
    own = trend_of()
    for i in range(100):
        own.push(seconds(1e6, 1.0, i), 1e6)
    wrong = [own.push(2.4 * seconds(1e6, 1.0, i), 2e6) for i in range(100)]
    assert not any(wrong)
    assert own.expected == pytest.approx(4.8, rel=0.02)


def test_short_last_step_of_an_epoch_is_left_out():
    own = trend_of()
    for i in range(100):
        own.push(seconds(1e6, 1.0, i), 1e6)
    steps = own.steps
    assert not own.push(0.4, 2e5)
    assert own.steps == steps
    assert own.ready


def test_throughput_does_not_follow_tokens_unless_it_shows_so():
    own = trend_of(Rule("step_down", 1 / 1.10, power=0.0))
    wrong = [own.push(5e5 * (1 + 0.01 * math.sin(i)), t) for i, t in enumerate(lengths(200))]
    assert not any(wrong)
