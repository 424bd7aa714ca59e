"""Runs the agent's GPU collectors in a process of its own, tick by tick, as it is told on stdin.

A process because the library is found by LD_LIBRARY_PATH, which is read at its start.
"""

import base64
import json
import logging
import os
import sys
import threading
import time
from pathlib import Path

from prometheus_client import CollectorRegistry

from exporters import rounds
from exporters.agent import Agent
from exporters.collector import Host
from exporters.exposition import Server
from exporters.gpu.nvml.node import Nvml
from forewarn.bus import TopicName
from forewarn.config import Agent as AgentSettings
from forewarn.config import Settings
from forewarn.memory import MemoryBus

TOPICS: tuple[TopicName, ...] = ("frames", "events", "inventory")
# Of a GPU's reading, and of the wait for all before a frame is sent (a quarter of a second on a
# real node): generous, so that no test depends on how busy the machine is.
DEADLINE_SECONDS = float(os.environ.get("CARD_DEADLINE_SECONDS", "60"))
rounds.GRACE = float(os.environ.get("GRACE_SECONDS", "30"))


class Memory(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


class Child:
    """The agent, with its ticks in the hand of the test."""

    def __init__(self, folder: Path) -> None:
        self._log = Memory()
        logging.getLogger().addHandler(self._log)
        logging.getLogger().setLevel(logging.INFO)
        bus, registry = MemoryBus(), CollectorRegistry()
        self._consumer = bus.consumer(list(TOPICS), None, from_beginning=list(TOPICS))
        own = AgentSettings(node="n7", state_directory=str(folder))
        host = Host("node/n7", Path(os.environ.get("AGENT_PROC", "/proc")), folder / "sys")
        nvml = Nvml(host, card_deadline_seconds=DEADLINE_SECONDS)
        self._agent = Agent(
            Settings(cluster="c1", agent=own), bus.producer(), registry, host,
            [nvml, *nvml.parts()],
        )  # fmt: skip
        self._server = Server("127.0.0.1:0", registry)
        stream = nvml.stream(self._agent.outlet)
        stop = threading.Event()
        threading.Thread(target=stream.run, args=(stop,), daemon=True).start()

    def tick(self, number: int) -> dict[str, object]:
        """Run one tick; return what was sent and logged since the last one."""
        if number >= 0:
            self._agent.tick(number)
        end = time.monotonic() + 30
        while not self._agent.outlet.spool.empty() and time.monotonic() < end:
            time.sleep(0.001)
        sent = [
            (m.topic, m.key, base64.b64encode(m.value).decode())
            for m in self._consumer.poll(0.0, 1_000_000)
        ]
        lines, self._log.lines = self._log.lines, []
        return {
            "sent": sent,
            "log": lines,
            "binding": "pynvml" in sys.modules,
            "port": self._server.port,
        }


def main() -> None:
    """Serve until stdin ends."""
    child = Child(Path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(child.tick(int(line))), flush=True)
    os._exit(0)  # a thread may hang in the library, as on a real node


if __name__ == "__main__":
    main()
