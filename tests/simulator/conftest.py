"""What the tests of the simulator share: a small scenario, and what a healthy run of it sent."""

from collections.abc import Callable

import pytest

from simulator import Scenario, simulate
from tests.simulator.recorded import Recorded, scenario_of


@pytest.fixture
def scenario() -> Callable[..., Scenario]:
    return scenario_of


@pytest.fixture
def record() -> Callable[..., Recorded]:
    """Return a function that runs a scenario and records what was sent."""

    def run(scenario: Scenario, seed: int = 1) -> Recorded:
        return Recorded(simulate(scenario, seed))

    return run


@pytest.fixture(scope="session")
def healthy() -> Recorded:
    return Recorded(simulate(scenario_of(duration=400), 1))
