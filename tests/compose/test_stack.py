"""What compose.yaml would start works: against a real Kafka, Prometheus and Alertmanager.

Containers, and with them Grafana, need an engine and are not run here.
"""

import json
import math
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from forewarn import config
from forewarn.kafka import KafkaBus
from forewarn.reporter import Reporter
from tests.compose.stack import ROOT, STAGES, Stack
from tests.dashboards import queries
from tests.dashboards.prometheus import Prometheus, need
from tests.kafka import broker
from tests.kafka.broker import Broker, free_port
from tests.kafka.waiting import until

LIMIT_SECONDS = 120


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    if reason := broker.lacking():
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    own = Broker(tmp_path_factory.mktemp("kafka"))
    own.start()
    yield own
    own.stop()


def ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/-/ready", timeout=10):
            return True
    except urllib.error.URLError:
        return False


def alerts(address: str) -> set[str]:
    """Return the names of the alerts that an Alertmanager holds."""
    with urllib.request.urlopen(f"http://{address}/api/v2/alerts", timeout=10) as answer:
        return {own["labels"]["alertname"] for own in json.load(answer)}


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Alertmanager with the configuration that compose mounts; its address."""
    folder, address = tmp_path_factory.mktemp("am"), f"127.0.0.1:{free_port()}"
    command = (
        need("prometheus-alertmanager"), f"--config.file={ROOT / 'deploy/alertmanager.yml'}",
        f"--storage.path={folder}", f"--web.listen-address={address}",
        "--cluster.listen-address=",
    )  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        until(lambda: ready(address))
        yield address
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture
def stack(
    tmp_path_factory: pytest.TempPathFactory, kafka: Broker, alertmanager: str
) -> Iterator[Stack]:
    own = Stack(tmp_path_factory.mktemp("s"), kafka.address(), alertmanager)
    yield own
    own.stop()


def scraping(stack: Stack) -> str:
    """Return deploy/prometheus.yml for the machine: other targets, rules from where they are."""
    text = (ROOT / "deploy/prometheus.yml").read_text("utf-8")
    rules = f"{ROOT / 'dashboards/rules'}/"
    return stack.outside(text.replace("/etc/prometheus/rules/", rules))


class Trainer:
    """A training job on the agent's machine, whose loss becomes NaN; and a message that is none."""

    def __init__(self, stack: Stack) -> None:
        self._report = Reporter("real", socket=str(stack.state("agent") / "reporter.sock"))
        settings = config.load(stack.settings("decide")).bus.kafka
        self._bus = KafkaBus(settings, "test", CollectorRegistry())
        self._producer, self._step = self._bus.producer(), 0

    def go_on(self) -> None:
        for _ in range(5):
            loss = 2.0 if self._step < 20 else math.nan
            self._report.step(self._step, loss=loss, gradient_norm=1.0, step_seconds=0.1)
            self._step += 1
        with self._report.checkpoint():
            time.sleep(0.02)
        self._producer.publish("frames", "n1", b"no frame")

    def close(self) -> None:
        self._report.close()
        self._bus.close()


@pytest.mark.timeout(400)
def test_commands_of_compose_work_on_real_servers(
    stack: Stack, alertmanager: str, tmp_path: Path
) -> None:
    made = stack.run("topics")
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("created") == 8
    for name in STAGES:
        stack.start(name)
    with Prometheus(tmp_path, scraping(stack)) as server:
        until(lambda: len(up := server.targets()) == 4 and set(up.values()) == {"up"}, 120)
        trainer = Trainer(stack)
        try:
            queries.await_data(server, trainer.go_on, LIMIT_SECONDS)
        finally:
            trainer.close()
        until(lambda: set(server.rules().values()) == {"ok"})
        (gpus,) = server.query("sum(node_gpus_present)")
        assert float(gpus["value"][1]) == 64
        (told,) = server.query('sum(forewarn_deliveries_total{channel="incidents",outcome="ok"})')
        assert float(told["value"][1]) >= 1
        until(lambda: "ForewarnIncident" in alerts(alertmanager), 120)
    assert stack.stop() == dict.fromkeys(STAGES, 0)
