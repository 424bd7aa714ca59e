"""A real Alertmanager on loopback for tests, started anew at will on the same ports and data."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

COMMAND = "prometheus-alertmanager"
READY_SECONDS = 30.0  # it takes about a third of one
CONFIGURATION = """
route:
  receiver: hook
  group_by: [incident_id]
  group_wait: 300ms
  group_interval: 500ms
  repeat_interval: 1h
receivers:
  - name: hook
    webhook_configs:
      - url: {url}
        send_resolved: true
"""


def need_alertmanager() -> None:
    """Skip where Debian's package is missing, and say so; in continuous integration it fails."""
    if shutil.which(COMMAND) is None:
        reason = f"{COMMAND} is not installed (Debian package of that name)"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)


class Alertmanager:
    """One Alertmanager that tells `hook`; `stop` and `start` are a restart."""

    def __init__(self, folder: Path, hook: str) -> None:
        self._folder, self._port = folder, free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        (folder / "am.yml").write_text(CONFIGURATION.format(url=hook))
        self._process: subprocess.Popen[bytes] | None = None
        self._log = (folder / "log").open("ab")

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                COMMAND, f"--config.file={self._folder / 'am.yml'}",
                f"--storage.path={self._folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self._port}", "--cluster.listen-address=",
            ],
            stdout=self._log, stderr=self._log,
        )  # fmt: skip
        wait_until(self._is_ready, READY_SECONDS)

    def _is_ready(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/-/ready", trust_env=False).status_code == 200
        return False

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(READY_SECONDS)
            self._process = None

    def close(self) -> None:
        self.stop()
        self._log.close()

    def alerts(self) -> list[dict[str, Any]]:
        """Return the alerts that fire there."""
        found: list[dict[str, Any]] = httpx.get(f"{self.url}/api/v2/alerts", trust_env=False).json()
        return found

    def amtool(self, *words: str) -> str:
        """Ask its own tool."""
        return subprocess.run(
            ["amtool", f"--alertmanager.url={self.url}", *words],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip


class Message(msgspec.Struct, frozen=True):
    """What Alertmanager tells its receivers, as far as it is looked at here."""

    status: str
    alerts: list[dict[str, Any]]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def wait_until(holds: Callable[[], object], seconds: float = 30.0) -> None:
    """Poll until it holds. Raises AssertionError after `seconds`."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"did not come true within {seconds:g} s"
        time.sleep(0.05)


@contextlib.contextmanager
def alerting(folder: Path, hook: str) -> Iterator[Alertmanager]:
    """Run an Alertmanager while the context lasts."""
    need_alertmanager()
    folder.mkdir()
    own = Alertmanager(folder, hook)
    try:
        yield own
    finally:
        own.close()
