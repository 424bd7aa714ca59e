"""Every query of every dashboard has data on a simulated cluster, asked of a real Prometheus.

A simulated cluster, a real agent on this machine, detect and decide run over the embedded bus; what
only a Kafka bus tells of itself is asked in tests/compose.
"""

import contextlib
import datetime as dt
import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry

import detector.decide
import detector.detect
import simulator
from exporters.agent import Agent
from exporters.exposition import Server
from forewarn import config
from forewarn.cli.exposed import Exposed
from forewarn.cli.simulate import messages
from forewarn.memory import MemoryBus
from tests.dashboards import queries
from tests.dashboards.prometheus import Prometheus, QueryError
from tests.kafka.broker import free_port
from tests.kafka.waiting import until

LIMIT_SECONDS = 60
RULES = Path(__file__).parents[2] / "dashboards" / "rules"
SCENARIO = """
name = "page"
duration_seconds = 120
[fleet]
nodes = 2
gpus_per_node = 4
[[job]]
name = "llm"
nodes = ["n01"]
loading_seconds = 2
compile_seconds = 1
step_seconds = 1.0
[[job]]
name = "vision"
nodes = ["n02"]
loading_seconds = 2
compile_seconds = 1
step_seconds = 1.0
checkpoint_every = 5
checkpoint_seconds = 1
[[fault]]
mode = "loss_nan"
entity = "job/llm"
onset_seconds = 60
severity = 30.0
"""
SETTINGS = """
cluster = "page"
[agent]
node = "here"
listen = "127.0.0.1:{agent}"
state_directory = "{state}"
disable = ["kernel_log"]
[detect]
listen = "127.0.0.1:{detect}"
[decide]
listen = "127.0.0.1:{decide}"
database = "{state}/decide.sqlite"
"""
PROMETHEUS = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [{rules}]
scrape_configs:
  - job_name: forewarn
    honor_labels: true
    static_configs:
      - targets: [{targets}]
        labels: {{cluster: page}}
"""


AT_ONCE = 5  # simulated seconds between two looks


class Cluster:
    """A simulated cluster whose run ends now, published second by second."""

    def __init__(self, bus: MemoryBus, registry: CollectorRegistry) -> None:
        made = simulator.parse(SCENARIO)
        begun = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=made.duration_seconds)
        self._run = iter(simulator.simulate(msgspec.structs.replace(made, start=begun), 1))
        self._producer, self._shown = bus.producer(), Exposed(registry)

    def go_on(self) -> None:
        for instant in itertools.islice(self._run, AT_ONCE):
            for topic, key, value in messages(instant):
                self._producer.publish(topic, key, value)
            self._shown.show(instant)

    def garble(self) -> None:
        self._producer.publish("frames", "n01", b"no frame")


@contextlib.contextmanager
def threads(stop: threading.Event, *jobs: Callable[[], None]) -> Iterator[None]:
    running = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in running:
            thread.join(20)
        assert not any(thread.is_alive() for thread in running)


def settings(folder: Path) -> config.Settings:
    ports = {name: free_port() for name in ("agent", "detect", "decide")}
    return config.parse(SETTINGS.format(state=folder, **ports), "settings")


@contextlib.contextmanager
def line(own: config.Settings) -> Iterator[tuple[Cluster, list[str]]]:
    """Run everything; give the cluster and the addresses that serve /metrics."""
    stop, bus = threading.Event(), MemoryBus()
    registries = [CollectorRegistry() for _ in range(4)]
    cluster = Cluster(bus, registries[3])
    server = Server("127.0.0.1:0", registries[3])
    node = Agent(own, bus.producer(), registries[0])
    jobs = (
        lambda: node.run(stop),
        lambda: detector.detect.run(bus, own, stop, registries[1]),
        lambda: detector.decide.run(bus, own, stop, registries[2]),
    )
    with threads(stop, *jobs):
        listen = [own.agent.listen, own.detect.listen, own.decide.listen]
        yield cluster, [*listen, f"127.0.0.1:{server.port}"]
    server.close()


def configuration(targets: list[str]) -> str:
    rules = ", ".join(str(path) for path in sorted(RULES.glob("*.yml")))
    return PROMETHEUS.format(rules=rules, targets=", ".join(targets))


def test_every_query_has_data_and_every_rule_loads(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("p")
    with (
        line(settings(folder)) as (cluster, targets),
        Prometheus(folder / "prometheus", configuration(targets)) as server,
    ):
        until(lambda: set(server.targets().values()) == {"up"})
        cluster.garble()
        queries.await_data(server, cluster.go_on, LIMIT_SECONDS, but=queries.of_kafka)
        until(lambda: set(server.rules().values()) == {"ok"})


def test_query_of_nothing_is_told(tmp_path: Path) -> None:
    with Prometheus(tmp_path, configuration(["127.0.0.1:1"])) as server:
        with pytest.raises(AssertionError, match="node_power_watts"):
            queries.await_data(server, lambda: None, 0.0)
        with pytest.raises(QueryError, match="parse error"):
            server.query("sum(")
