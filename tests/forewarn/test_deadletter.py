"""Dead letters: counted, kept with their reason, told once a reason, and the rest goes on."""

import logging
from collections.abc import Iterable

import pytest
from prometheus_client import CollectorRegistry

from forewarn import wire
from forewarn.bus import Message, TopicName
from forewarn.deadletter import MAX_PAYLOAD, DeadLetters
from forewarn.errors import BusError
from forewarn.memory import MemoryBus
from forewarn.records import DeadLetter

MESSAGE = Message("frames", "n7", b"\xff", 3, 99, 5)


class Refusing:
    """A producer of a bus that takes nothing."""

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        raise BusError("broker is away")

    def flush(self, timeout_seconds: float) -> bool:
        return False

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Holds nothing."""


def counted(registry: CollectorRegistry, reason: str) -> float | None:
    return registry.get_sample_value("forewarn_dead_letters_total", {"reason": reason})


def test_letter_says_where_and_why() -> None:
    bus, registry = MemoryBus(), CollectorRegistry()
    consumer = bus.consumer(["deadletter"], None)
    DeadLetters(bus.producer(), "detect", registry, lambda: 7).send("truncated", "cut", MESSAGE)
    (message,) = consumer.poll(0)
    assert message.key == "detect"
    assert wire.decode_deadletter(message.value) == DeadLetter(
        "truncated", "cut", "detect", "frames", 3, 99, 7, b"\xff"
    )
    assert counted(registry, "truncated") == 1


def test_large_letter_is_cut() -> None:
    bus = MemoryBus()
    consumer = bus.consumer(["deadletter"], None)
    dead = DeadLetters(bus.producer(), "agent", CollectorRegistry())
    dead.bury("bad_size", "x" * 5000, b"y" * (MAX_PAYLOAD + 1))
    letter = wire.decode_deadletter(consumer.poll(0)[0].value)
    assert len(letter.payload) == MAX_PAYLOAD
    assert len(letter.message) == 2000
    assert letter.topic == ""


def test_each_reason_is_told_loudly_once(caplog: pytest.LogCaptureFixture) -> None:
    dead = DeadLetters(MemoryBus().producer(), "detect", CollectorRegistry())
    with caplog.at_level(logging.INFO):
        for reason in ("truncated", "truncated", "bad_layout", "truncated"):
            dead.send(reason, "text", MESSAGE)
    assert caplog.messages == [
        "dead letter (truncated) from frames[3]@99: text",
        "dead letter (bad_layout) from frames[3]@99: text",
    ]


def test_letter_that_the_bus_refuses_is_still_counted(caplog: pytest.LogCaptureFixture) -> None:
    registry = CollectorRegistry()
    DeadLetters(Refusing(), "detect", registry).send("truncated", "cut", MESSAGE)
    assert counted(registry, "truncated") == 1
    assert "dead letter lost from the bus, still counted: broker is away" in caplog.messages
