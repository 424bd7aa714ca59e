"""Fakes of exporters' tests: clocks, a bus that can be away, a line out that can be read back."""

import time
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry

from exporters.announcer import Announcer
from exporters.collector import Measurement
from exporters.outlet import Outlet
from exporters.spool import Spool
from forewarn import wire
from forewarn.bus import Producer, TopicName
from forewarn.errors import BusError
from forewarn.memory import MemoryBus
from forewarn.records import DeadLetter, Event, Frame, InventoryItem

BOOT_ID = "11111111-2222-3333-4444-555555555555"


class Everything:
    """A set of signals that are due: all of them."""

    def __contains__(self, signal: object) -> bool:
        return True


class Clock:
    """Both clocks of a test; they move when told."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    def monotonic_ns(self) -> int:
        return int(self.seconds * 1e9)

    def time_ns(self) -> int:
        return 1_800_000_000_000_000_000 + int(self.seconds * 1e9)


def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something real has happened."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


class RefusingProducer(Producer):
    """A producer in front of a bus that can be away."""

    def __init__(self, bus: MemoryBus) -> None:
        self.away = False
        self.calls = 0
        self._inner = bus.producer()

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        self.calls += 1
        if self.away:
            raise BusError("broker is away")
        self._inner.publish(topic, key, value, headers)

    def flush(self, timeout_seconds: float) -> bool:
        return not self.away

    def close(self, timeout_seconds: float = 5.0) -> None:
        self._inner.close()


class Line:
    """A bus in memory with the agent's way out before it; reads back what was sent."""

    def __init__(self, clock: Clock) -> None:
        self.bus = MemoryBus()
        self.producer = RefusingProducer(self.bus)
        self.registry = CollectorRegistry()
        self.spool = Spool(self.producer, 1 << 20)
        self.announcer = Announcer(
            "c1", self.spool, 600.0, clock=clock.time_ns, monotonic=clock.monotonic
        )
        self.outlet = Outlet("c1", "n7", BOOT_ID, self.spool, self.announcer, self.registry)
        self._layouts = wire.LayoutCache()

    def _values(self, topic: TopicName) -> list[bytes]:
        until(self.spool.empty)
        consumer = self.bus.consumer([topic], None, from_beginning=[topic])
        return [message.value for message in consumer.poll(0.0, 1_000_000)]

    def frames(self, topic: TopicName = "frames") -> list[Frame]:
        return [wire.decode_frame(value) for value in self._values(topic)]

    def events(self) -> list[Event]:
        return [wire.decode_event(value) for value in self._values("events")]

    def items(self) -> list[InventoryItem]:
        return [wire.decode_inventory(value) for value in self._values("inventory")]

    def letters(self) -> list[DeadLetter]:
        return [wire.decode_deadletter(value) for value in self._values("deadletter")]

    def count(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0


def table(measurements: list[Measurement]) -> dict[tuple[str, str], float | str]:
    """Return {(signal, entity below the node): value, or outcome where there is none}."""
    return {
        (m.signal, m.entity.removeprefix("node/n7").lstrip("/")): m.value
        if m.outcome == 0
        else m.outcome.name
        for m in measurements
    }
