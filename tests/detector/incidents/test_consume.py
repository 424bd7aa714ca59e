import threading
from collections.abc import Mapping

import pytest

from detector.incidents.consume import consume, load_inventory
from detector.incidents.database import StoreError
from forewarn import wire
from forewarn.bus import Consumer, Message, Position
from forewarn.memory import MemoryBus
from tests.detector import samples


class LateConsumer(Consumer):
    """Reaches its bus at the third poll; then gives two batches."""

    def __init__(self) -> None:
        self.polls = 0

    def poll(self, timeout_seconds: float, max_messages: int = 1000) -> list[Message]:
        self.polls += 1
        batches = {3: [self._message(0)], 4: [self._message(1)]}
        return batches.get(self.polls, [])

    def _message(self, offset: int) -> Message:
        return Message("inventory", "node/n0", b"", 0, offset, samples.T0)

    def commit(self) -> None:
        """There is no group."""

    def positions(self) -> Mapping[Position, int]:
        return {} if self.polls < 3 else {("inventory", 0): self.polls - 2}

    def lag(self) -> int:
        return 0 if self.polls < 3 else 4 - self.polls

    def close(self) -> None:
        """Nothing is held."""


class LateBus(MemoryBus):
    """A bus that is away at first."""

    def consumer(self, *args: object, **more: object) -> Consumer:
        return LateConsumer()


def test_inventory_is_waited_for_while_the_bus_is_away() -> None:
    taken: list[int] = []
    load_inventory(LateBus(), lambda batch: taken.extend(m.offset for m in batch),
                   threading.Event())  # fmt: skip
    assert taken == [0, 1]


def test_inventory_is_read_whole_before_findings() -> None:
    bus = MemoryBus()
    for item in samples.inventory():
        bus.producer().publish("inventory", item.entity, wire.encode_inventory(item))
    taken: list[Message] = []
    load_inventory(bus, taken.extend, threading.Event())
    assert len(taken) == len(samples.inventory())


def test_consuming_goes_on_from_the_stored_offsets_but_rereads_the_inventory() -> None:
    bus, stop = MemoryBus(), threading.Event()
    for own in range(3):
        bus.producer().publish("findings", "node/n0", b"%d" % own)
        bus.producer().publish("inventory", f"node/n{own}", b"%d" % own)
    taken: list[tuple[str, int]] = []

    def take(batch: list[Message]) -> None:
        taken.extend((own.topic, own.offset) for own in batch)
        stop.set()

    consume(bus, {("findings", 0): 2, ("inventory", 0): 2}, take, stop)  # type: ignore[arg-type]
    assert sorted(taken) == [
        ("findings", 2), ("inventory", 0), ("inventory", 1), ("inventory", 2),
    ]  # fmt: skip


def test_what_the_database_refuses_is_taken_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("detector.incidents.consume.RETRY_SECONDS", 0.0)
    bus, stop = MemoryBus(), threading.Event()
    bus.producer().publish("findings", "node/n0", b"0")
    tries: list[list[int]] = []

    def take(batch: list[Message]) -> None:
        tries.append([own.offset for own in batch])
        if len(tries) < 4:
            raise StoreError("database or disk is full")
        stop.set()

    consume(bus, {}, take, stop)  # type: ignore[arg-type]
    assert tries == [[0]] * 4
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "nothing can be kept, trying again: database or disk is full",
        "the database keeps again",
    ]
