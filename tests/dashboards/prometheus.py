"""A real Prometheus server for tests, and its promtool: on 127.0.0.1, in a folder."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.broker import free_port

READY_SECONDS = 60


def need(command: str) -> str:
    """Return where a command is; skip where it is not, and in continuous integration fail."""
    found = shutil.which(command)
    if found is None:
        reason = f"no {command} on PATH: install the packages of tests/apt.txt"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class QueryError(Exception):
    """The server does not take an expression."""


class Prometheus:
    """One server with the configuration given; nothing is kept after it."""

    def __init__(self, folder: Path, config: str) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "prometheus.yml").write_text(config, encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Prometheus":
        command = (
            need("prometheus"),
            f"--config.file={self._folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address={self.url.removeprefix('http://')}",
        )
        with (self._folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + READY_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                log_text = (self._folder / "prometheus.log").read_text()
                raise RuntimeError(f"no Prometheus:\n{log_text[-3000:]}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=60)
            self._process = None

    def query(self, expr: str) -> list[dict[str, Any]]:
        """Return the series of an instant query. Raises QueryError."""
        result: list[dict[str, Any]] = self._api("query", query=expr)["result"]
        return result

    def values(self, label: str, selector: str) -> list[str]:
        """Return the values of a label among the series that a selector takes."""
        found: list[str] = self._api(f"label/{label}/values", **{"match[]": selector})
        return found

    def targets(self) -> dict[str, str]:
        """Return the health of every target, by its scrape job and instance."""
        active = self._api("targets")["activeTargets"]
        return {f"{t['labels']['job']} {t['labels']['instance']}": t["health"] for t in active}

    def rules(self) -> dict[str, str]:
        """Return the health of every rule by name."""
        groups = self._api("rules")["groups"]
        return {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}

    def _api(self, path: str, **parameters: str) -> Any:
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise QueryError(json.load(error)["error"]) from error

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=10):
                return True
        except urllib.error.URLError:
            return False
