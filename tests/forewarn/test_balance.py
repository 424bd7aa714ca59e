"""Poisson intervals as tables give them."""

import pytest
from scipy import stats

from forewarn.balance import poisson_interval


@pytest.mark.parametrize("mean", [0.25, 1, 15, 30, 60, 240, 5000])
def test_interval_is_that_of_the_quantiles(mean: float) -> None:
    assert poisson_interval(mean) == tuple(map(int, stats.poisson.interval(0.95, mean)))


def test_nothing_is_promised_for_no_time() -> None:
    assert poisson_interval(0.0) == (0, 0)
