"""What compose.yaml would start, as processes of this machine: same commands, same environment.

A container's name becomes 127.0.0.1 with a port of its own, a path inside it becomes what compose
mounts there, and a named volume a folder.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.kafka.broker import free_port

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
IMAGE = COMPOSE["x-forewarn"]["image"]
OURS = [name for name, own in SERVICES.items() if own["image"] == IMAGE]
STAGES = [name for name in OURS if name != "topics"]
STOP_SECONDS = 60
_LISTEN = re.compile(r"0\.0\.0\.0:(\d+)")


class Stack:
    """Our services of compose.yaml; `broker` and `alertmanager` are where those two really are."""

    def __init__(self, folder: Path, broker: str, alertmanager: str) -> None:
        self.folder = folder
        self._elsewhere = {"kafka:19092": broker, "alertmanager:9093": alertmanager}
        self._ports: dict[str, str] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def address(self, name: str, port: str) -> str:
        """Return where a container's port is on this machine."""
        key = f"{name}:{port}"
        if key not in self._ports:
            self._ports[key] = f"127.0.0.1:{free_port()}"
        return self._ports[key]

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run a service that ends by itself."""
        command, environment = self._start_of(name)
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=120
        )

    def start(self, name: str) -> None:
        """Start a service that stays."""
        command, environment = self._start_of(name)
        with (self.folder / f"{name}.log").open("wb") as log:
            self._running[name] = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, cwd=self.folder
            )

    def stop(self) -> dict[str, int]:
        """Send SIGTERM to all, as compose does; return their exit codes."""
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: own.wait(STOP_SECONDS) for name, own in self._running.items()}
        self._running.clear()
        return codes

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def state(self, name: str) -> Path:
        """Return what FOREWARN_STATE of a service is here."""
        return Path(self.environment(name)["FOREWARN_STATE"])

    def settings(self, name: str) -> Path:
        """Return what FOREWARN_CONFIG of a service is here."""
        return Path(self.environment(name)["FOREWARN_CONFIG"])

    def environment(self, name: str) -> dict[str, str]:
        """Return a service's environment with the paths of this machine."""
        return {
            key: str(self._path(name, value))
            for key, value in SERVICES[name]["environment"].items()
        }

    def _start_of(self, name: str) -> tuple[list[str], dict[str, str]]:
        command = [self._text(name, word) for word in SERVICES[name]["command"]]
        entry = [sys.executable, "-m", "forewarn"]  # the image's ENTRYPOINT is forewarn
        return [*entry, *command], {**os.environ, **self.environment(name), "PYTHONPATH": str(ROOT)}

    def _path(self, name: str, inside: str) -> Path:
        """Return the file or folder that stands for a path of a container."""
        for volume in SERVICES[name]["volumes"]:
            outside, mounted = volume.split(":")[:2]
            if mounted == inside and outside.startswith("./"):
                return self._copy(name, ROOT / outside)
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def _copy(self, name: str, path: Path) -> Path:
        """Copy a mounted file, its addresses put where they are on this machine."""
        copy = self.folder / f"{name}-{path.name}"
        copy.write_text(self._text(name, path.read_text("utf-8")), encoding="utf-8")
        return copy

    def _text(self, name: str, text: str) -> str:
        text = _LISTEN.sub(lambda match: self.address(name, match[1]), text)
        return self.outside(text)

    def outside(self, text: str) -> str:
        """Put the addresses of this machine for those inside the composition."""
        for inside, outside in self._elsewhere.items():
            text = text.replace(inside, outside)
        names = "|".join(STAGES)
        return re.sub(rf"\b({names}):(\d+)", lambda match: self.address(match[1], match[2]), text)
