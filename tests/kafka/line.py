"""The whole line as processes: agent, detect and decide over a real broker, and a training job."""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from forewarn import config
from tests.kafka.broker import free_port

ROOT = Path(__file__).parents[2]
STOP_SECONDS = 60
STAGES = ("agent", "detect", "decide")

SETTINGS = """
cluster = "line"

[bus]
kind = "kafka"

[bus.kafka]
bootstrap_servers = ["{servers}"]
topic_prefix = "{prefix}"
nodes = 1

[agent]
node = "n1"
listen = "127.0.0.1:{agent}"
reporter_socket = "{folder}/reporter.sock"
state_directory = "{folder}/agent"

[detect]
listen = "127.0.0.1:{detect}"

[decide]
listen = "127.0.0.1:{decide}"
database = "{folder}/decide.sqlite"

[[webhook]]
name = "test"
url = "{url}"
"""


class Line:
    """Processes of one line; `start` and `kill` as often as wanted, `stop` at the end."""

    def __init__(self, folder: Path, kafka: config.Kafka, url: str) -> None:
        self.folder = folder
        self._ports = {stage: free_port() for stage in STAGES}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._config = folder / "forewarn.toml"
        text = SETTINGS.format(
            servers=kafka.bootstrap_servers[0],
            prefix=kafka.topic_prefix,
            folder=folder,
            url=url,
            **self._ports,
        )
        self._config.write_text(text)

    def start(self, *stages: str) -> None:
        for stage in stages:
            verb = ("-m", "forewarn", "--log-level", "info", "--config", str(self._config), stage)
            self._running[stage] = self._spawn(stage, *verb)

    def train(self, job: str, steps: int, seconds: float) -> subprocess.Popen[bytes]:
        """Start the training loop."""
        socket = str(self.folder / "reporter.sock")
        arguments = ("-m", "tests.kafka.training", socket, job, str(steps), str(seconds))
        self._running["training"] = self._spawn("training", *arguments)
        return self._running["training"]

    def kill(self, stage: str) -> None:
        process = self._running.pop(stage)
        process.kill()
        process.wait()

    def stop(self) -> dict[str, int]:
        """Send SIGTERM to all; return their exit codes."""
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: own.wait(STOP_SECONDS) for name, own in self._running.items()}
        self._running.clear()
        return codes

    def ready(self, stage: str) -> bool:
        """Say whether a stage serves its metrics."""
        try:
            self.metrics(stage)
        except OSError:
            return False
        return True

    def metrics(self, stage: str) -> str:
        url = f"http://127.0.0.1:{self._ports[stage]}/metrics"
        with urllib.request.urlopen(url, timeout=10) as response:
            return str(response.read().decode())

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def _spawn(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "FOREWARN_STATE": str(self.folder / "state")}
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                (sys.executable, *arguments), cwd=ROOT, env=environment, stdout=log, stderr=log
            )
