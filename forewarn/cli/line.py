"""The whole line inside one process, stepped by hand: for the demo, and for replays.

The clock is the records' own, so a run gives the same incidents however fast the machine is.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from prometheus_client import CollectorRegistry

from forewarn import entity as entities
from forewarn import wire
from forewarn.balance import Balance
from forewarn.bus import Consumer, Message, TopicName
from forewarn.config import Settings
from forewarn.deadletter import DeadLetters
from forewarn.incident import Incident
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS, Event, Finding, Frame, InventoryItem

if TYPE_CHECKING:
    from detector.engine import Engine
    from runbooks import Table

LEAST_DAYS, MOST_DAYS = 0.001, 60.0  # of a window of the balance


class Step(msgspec.Struct, frozen=True):
    """What one step brought: findings that opened, moved or closed, and incidents that changed."""

    findings: tuple[Finding, ...]
    incidents: tuple[Incident, ...]


class Line:
    """Detect and decide over one embedded bus; `directory` holds the database."""

    def __init__(self, settings: Settings, directory: Path, table: "Table") -> None:
        from detector.bundle import load
        from detector.decide import Decide
        from detector.engine import Engine
        from detector.families.context import FEATURES
        from detector.incidents.store import Store

        self.now = self._began = 0
        self.cluster = settings.cluster
        self.spoken_for: Callable[[Finding], bool] = lambda finding: False
        detecting, deciding = CollectorRegistry(), CollectorRegistry()
        self._bus = MemoryBus(clock=lambda: self.now)
        self._producer = self._bus.producer()
        detected: tuple[TopicName, ...] = ("frames", "jobs", "events", "inventory")
        self._detect_in = self._bus.consumer(detected, None)
        self._decide_in = self._bus.consumer(("inventory", "events", "findings"), None)
        dead = DeadLetters(self._producer, "line", detecting, lambda: self.now)
        self._engine = Engine(
            settings.cluster, detecting, dead, settings.detect.seed, settings.detect.budget
        )
        if settings.detect.model:
            self._engine.adopt(load(Path(settings.detect.model), FEATURES))
        self._store = Store(directory / "decide.sqlite")
        self._decide = Decide(
            settings, self._store, table, self._producer, deciding, clock=lambda: self.now
        )

    @property
    def engine(self) -> "Engine":
        """Return the detector, for those who watch it."""
        return self._engine

    def publish(
        self,
        now: int,
        frames: Iterable[Frame] = (),
        job_frames: Iterable[Frame] = (),
        events: Iterable[Event] = (),
        inventory: Iterable[InventoryItem] = (),
    ) -> None:
        """Put the records of one instant on the bus, inventory first, as an agent would.

        `now` is the time of the stream.
        """
        self._began = self._began or now
        self.now = now
        put = self._producer.publish
        for item in inventory:
            put("inventory", item.entity, wire.encode_inventory(item))
        for event in events:
            put("events", event.node or entities.root(event.entity), wire.encode_event(event))
        for frame in job_frames:
            put("jobs", frame.source.partition(":")[2], wire.encode_frame(frame))
        for frame in frames:
            put("frames", frame.node, wire.encode_frame(frame))

    def replay(self, messages: Iterable[Message]) -> None:
        """Put recorded messages on the bus as they were, at their append times."""
        for message in messages:
            self.now = message.append_time_unix_nano
            self._producer.publish(message.topic, message.key, message.value, message.headers)

    def step(self) -> Step:
        """Let both stages work on what is there."""
        return self._told(self._unspoken(self._engine.feed(self._poll(self._detect_in))))

    def tell(self, findings: list[Finding]) -> Step:
        """Let decide take findings that came from elsewhere."""
        return self._told(findings)

    def finish(self) -> Step:
        """Close what is open at the end of the stream."""
        return self._told(self._unspoken(self._engine.flush()))

    def _unspoken(self, findings: list[Finding]) -> list[Finding]:
        """Leave out findings that another one speaks for."""
        return [own for own in findings if not self.spoken_for(own)]

    def _told(self, findings: list[Finding]) -> Step:
        for finding in findings:
            self._producer.publish("findings", finding.entity, wire.encode_finding(finding))
        return Step(tuple(findings), tuple(self._decide.step(self._poll(self._decide_in))))

    def incidents(self) -> list[Incident]:
        """Return every incident in its latest revision, oldest first."""
        return sorted(self._store.incidents(), key=lambda own: own.detected_at_unix_nano)

    def balance(self) -> Balance:
        """Return what the budget promised up to now, and what came of it."""
        from detector.incidents.balance import BudgetQuery, balance

        days = (self.now - self._began) / (86_400 * NANOSECONDS)
        query = BudgetQuery(days=min(max(days, LEAST_DAYS), MOST_DAYS), until=self.now)
        return balance(self._store, self._decide.budget, query)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    @staticmethod
    def _poll(consumer: Consumer) -> list[Message]:
        found: list[Message] = []
        while batch := consumer.poll(0.0, 100_000):
            found += batch
        return found
