"""Frames and messages that tests of detect are made of: small layouts, a clock by hand."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from prometheus_client import CollectorRegistry

from detector.engine import Engine
from forewarn import wire
from forewarn.bus import Message, TopicName
from forewarn.deadletter import DeadLetters
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS, DeadLetter, Event, Finding, Frame, InventoryItem, Layout
from simulator import Instant

T0 = 1_767_600_000
Pairs = Sequence[tuple[str, str]]


def layout(pairs: Pairs) -> Layout:
    """Return the layout of (signal, entity) pairs."""
    signals = tuple(dict.fromkeys(signal for signal, _ in pairs))
    entities = tuple(dict.fromkeys(entity for _, entity in pairs))
    return Layout(
        signals,
        entities,
        tuple(signals.index(signal) for signal, _ in pairs),
        tuple(entities.index(entity) for _, entity in pairs),
    )


def frame(
    second: float, values: Mapping[tuple[str, str], float], *, node: str = "n1", seq: int = 0,
    source: str = "agent", boot: str = "b1", outcome: bytes = b"",
) -> Frame:  # fmt: skip
    """Return one frame at T0 + second."""
    pairs = list(values)
    return Frame(
        "c", node, source, seq, round((T0 + second) * NANOSECONDS), boot,
        wire.encode_layout(layout(pairs)), np.array(list(values.values()), "<f8").tobytes(),
        outcome,
    )  # fmt: skip


def event(second: float, entity: str, code: str, **more: object) -> Event:
    """Return an event at T0 + second."""
    fields: dict[str, object] = {"severity": "major", "text": "", "node": "n1", **more}
    return Event("c", entity, code, round((T0 + second) * NANOSECONDS), **fields)  # type: ignore[arg-type]


class Bench:
    """An engine with its bus, dead letters, and messages numbered by topic."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        bus = MemoryBus()
        self._dead = bus.consumer(("deadletter",), None, from_beginning=("deadletter",))
        self.engine = Engine("c", self.registry, DeadLetters(bus.producer(), "test", self.registry))
        self._offsets: Counter[str] = Counter()
        self._seqs: Counter[tuple[str, str]] = Counter()

    def message(self, topic: TopicName, key: str, value: bytes, appended: float) -> Message:
        """Wrap bytes as a consumer would see them, appended at T0 + `appended`."""
        self._offsets[topic] += 1
        at = round((T0 + appended) * NANOSECONDS)
        return Message(topic, key, value, 0, self._offsets[topic], at)

    def frame(self, own: Frame, topic: TopicName = "frames", delay: float = 0.1) -> Message:
        """Wrap a frame."""
        appended = own.time_unix_nano / NANOSECONDS - T0 + delay
        return self.message(topic, own.node, wire.encode_frame(own), appended)

    def feed(self, *messages: Message) -> list[Finding]:
        """Feed messages."""
        return self.engine.feed(messages)

    def run(
        self, seconds: Iterable[int], values: Mapping[tuple[str, str], float], **more: object
    ) -> list[Finding]:
        """Feed one frame a second with the same values; sequence numbers go on by themselves."""
        out: list[Finding] = []
        for second in seconds:
            out += self.one(second, values, **more)
        return out

    def one(
        self, second: float, values: Mapping[tuple[str, str], float], *,
        topic: TopicName = "frames", **more: object,
    ) -> list[Finding]:  # fmt: skip
        """Feed one frame."""
        stream = (str(more.get("node", "n1")), str(more.get("source", "agent")))
        self._seqs[stream] += 1
        more.setdefault("seq", self._seqs[stream])
        return self.feed(self.frame(frame(second, values, **more), topic))  # type: ignore[arg-type]

    def event(self, own: Event) -> list[Finding]:
        """Feed an event."""
        at = own.time_unix_nano / NANOSECONDS - T0 + 0.1
        return self.feed(self.message("events", own.node, wire.encode_event(own), at))

    def inventory(self, item: InventoryItem) -> list[Finding]:
        """Feed an inventory item."""
        at = item.time_unix_nano / NANOSECONDS - T0 + 0.1
        return self.feed(self.message("inventory", item.entity, wire.encode_inventory(item), at))

    def dead(self) -> list[DeadLetter]:
        """Return the dead letters so far."""
        return [wire.decode_deadletter(m.value) for m in self._dead.poll(0.0)]

    def metric(self, name: str, **labels: str) -> float:
        """Return a metric of the engine."""
        value = self.registry.get_sample_value(name, labels)
        assert value is not None, name
        return value


def of_instant(instant: Instant, offsets: Counter[str]) -> list[Message]:
    """Return what consumers see of one simulated second, in the order of the topics."""
    appended = instant.time_unix_nano + NANOSECONDS + 50_000_000
    out: list[Message] = []

    def add(topic: TopicName, key: str, value: bytes) -> None:
        offsets[topic] += 1
        out.append(Message(topic, key, value, 0, offsets[topic], appended))

    for item in instant.inventory:
        add("inventory", item.entity, wire.encode_inventory(item))
    for own in instant.events:
        add("events", own.node, wire.encode_event(own))
    for node_frame in instant.frames:
        add("frames", node_frame.node, wire.encode_frame(node_frame))
    for job_frame in instant.job_frames:
        add("jobs", job_frame.source, wire.encode_frame(job_frame))
    return out


def shuffled(messages: list[Message], seed: int) -> list[Message]:
    """Shuffle messages across keys; those of one topic and key stay in order."""
    order = random.Random(seed)
    keys = [(m.topic, m.key) for m in messages]
    order.shuffle(keys)
    waiting: dict[tuple[str, str], list[Message]] = {}
    for m in messages:
        waiting.setdefault((m.topic, m.key), []).append(m)
    return [waiting[key].pop(0) for key in keys]
