"""A node for real inside one process: its agent, detect and decide on a bus in memory."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from detector.decide import Decide
from detector.engine import Engine
from detector.incidents.store import Store
from exporters.agent import SOURCE, Agent
from exporters.collector import Measurement
from forewarn import wire
from forewarn.config import Agent as AgentSettings
from forewarn.config import Settings
from forewarn.deadletter import DeadLetters
from forewarn.incident import Incident
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS, Finding
from runbooks import load

CLUSTER, NODE = "real", "n7"
STEP_SECONDS = 0.2


class Node:
    """The agent reads this machine; `step` lets the other two stages work on what it sent."""

    def __init__(self, folder: Path, **own: object) -> None:
        settings = AgentSettings(
            node=NODE,
            listen="127.0.0.1:0",
            state_directory=str(folder),
            disable=("kernel_log",),  # other tests of this machine write into it
            **own,  # type: ignore[arg-type]
        )
        self.settings = Settings(cluster=CLUSTER, agent=settings)
        self.bus = MemoryBus()
        self._producer = self.bus.producer()
        self._detect_in = self.bus.consumer(("frames", "jobs", "events", "inventory"), None)
        self._decide_in = self.bus.consumer(("findings", "events", "inventory"), None)
        registry = CollectorRegistry()
        dead = DeadLetters(self._producer, "e2e", registry)
        self._engine = Engine(CLUSTER, registry, dead)
        self._store = Store(folder / "decide.sqlite")
        self._decide = Decide(
            self.settings, self._store, load(), self._producer, CollectorRegistry()
        )
        self.registry = CollectorRegistry()  # the agent's
        self.agent = Agent(self.settings, self.bus.producer(), self.registry)
        self.findings: list[Finding] = []

    def lived(self, seconds: int, readings: Callable[[int], list[Measurement]]) -> None:
        """Give the node a past: a frame a second up to now, made and sent by the agent itself.

        `readings` says what was read so many seconds ago.
        """
        now = time.time_ns()
        for ago in range(seconds, 0, -1):
            self.agent.outlet.frame(SOURCE, now - ago * NANOSECONDS, readings(ago))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the agent for as long as the block lasts."""
        stop = threading.Event()
        thread = threading.Thread(target=self.agent.run, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(30)
        assert not thread.is_alive()

    def until(self, condition: Callable[[], object], seconds: float) -> None:
        """Let the line work until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited in vain; found {self.findings}"
            time.sleep(STEP_SECONDS)
            self.step()

    def step(self) -> None:
        """Detect and decide on what is there."""
        found = self._engine.feed(self._detect_in.poll(0.0, 1_000_000))
        self.findings += found
        for finding in found:
            self._producer.publish("findings", finding.entity, wire.encode_finding(finding))
        self._decide.step(self._decide_in.poll(0.0, 1_000_000))

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def incidents(self) -> list[Incident]:
        """Return all incidents, oldest first."""
        return [own for own in self._store.incidents() if own.state != "merged"]
