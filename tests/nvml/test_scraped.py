"""A real Prometheus scrapes an agent whose GPUs are those of the stand-in."""

from pathlib import Path

import pytest

from tests.dashboards import queries
from tests.dashboards.prometheus import Prometheus
from tests.kafka.waiting import until
from tests.nvml.bench import Bench
from tests.nvml.standin import SLOTS, Standin

SICK = 2
CONFIGURATION = """
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: forewarn-agent
    honor_labels: true
    static_configs:
      - targets: ["127.0.0.1:{port}"]
        labels: {{cluster: c1}}
"""


def without_data(server: Prometheus) -> list[str]:
    """Return the queries of the GPU dashboard that have no data."""
    asked = [own for own in queries.expressions() if own[0].startswith("gpu: ")]
    assert asked
    return [f"{where}: {expr}" for where, expr in asked if not server.query(expr)]


@pytest.mark.timeout(300)
def test_every_query_of_the_gpu_dashboard_has_data_of_the_stand_in(
    agent: Bench, standin: Standin, tmp_path: Path
) -> None:
    port = agent.tick().port
    with Prometheus(tmp_path / "prometheus", CONFIGURATION.format(port=port)) as server:
        until(lambda: set(server.targets().values()) == {"up"})

        def shown() -> bool:
            agent.tick()
            return without_data(server) == []

        until(shown)
        assert set(server.values("gpu", "gpu_temperature_celsius")) == set(SLOTS)
        standin.heat(SICK, 93)
        hot = f'gpu_temperature_celsius{{gpu="{SLOTS[SICK]}"}} == 93'
        until(lambda: agent.tick() and server.query(hot))
        standin.lose(SICK)
        gone = f'gpu_temperature_celsius{{gpu="{SLOTS[SICK]}"}}'
        until(lambda: agent.tick() and not server.query(gone))
        failed = f'agent_collector_success{{gpu="{SLOTS[SICK]}"}} == 0'
        until(lambda: agent.tick() and server.query(failed))
        until(lambda: len(server.query("gpu_temperature_celsius")) == len(SLOTS) - 1)
