"""A simulated cluster on /metrics: what it shows of each node, and what it shows no more."""

import pytest
from prometheus_client import CollectorRegistry

import simulator
from forewarn.cli.exposed import Exposed

SCENARIO = """
name = "two"
duration_seconds = 60
[fleet]
nodes = 2
gpus_per_node = 2
[[job]]
name = "short"
nodes = ["n01"]
loading_seconds = 1
compile_seconds = 1
step_seconds = 1
end_seconds = 20
"""
GPU = {"node": "n02", "gpu": "0000:1b:00.0"}
RANK = {"job": "short", "rank": "1"}


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_page_shows_the_latest_of_every_node_and_rank(registry: CollectorRegistry) -> None:
    run = iter(simulator.simulate(simulator.parse(SCENARIO), 1))
    shown = Exposed(registry)
    for _ in range(12):
        shown.show(next(run))
    assert registry.get_sample_value("gpu_temperature_celsius", GPU) == pytest.approx(35, abs=20)
    assert registry.get_sample_value("gpu_power_limit_watts", GPU) == 700  # read once a minute
    assert registry.get_sample_value("rank_step_seconds", RANK) == pytest.approx(1, abs=0.5)


def test_job_that_ended_is_shown_no_more(registry: CollectorRegistry) -> None:
    shown = Exposed(registry)
    for instant in simulator.simulate(simulator.parse(SCENARIO), 1):
        shown.show(instant)
    assert registry.get_sample_value("rank_step_seconds", RANK) is None
    assert registry.get_sample_value("gpu_temperature_celsius", GPU) is not None
