"""The embedded bus: order, groups, starting points, what it keeps, threads."""

import threading
from collections.abc import Iterable

import pytest

from forewarn.bus import Consumer, Message
from forewarn.errors import BusError
from forewarn.memory import MemoryBus


class Clock:
    """Counts the times it was asked."""

    def __init__(self, times: Iterable[int] = ()) -> None:
        self._times, self._now = list(times), 0

    def __call__(self) -> int:
        self._now = self._times.pop(0) if self._times else self._now + 1
        return self._now


def publish(bus: MemoryBus, *values: str, key: str = "n7") -> None:
    producer = bus.producer()
    for value in values:
        producer.publish("frames", key, value.encode())


def values(messages: list[Message]) -> list[str]:
    return [message.value.decode() for message in messages]


def drain(consumer: Consumer, count: int = 1000) -> list[str]:
    return values(consumer.poll(0, count))


def test_message_arrives_as_it_was_published() -> None:
    bus = MemoryBus(clock=Clock())
    consumer = bus.consumer(["events"], None)
    bus.producer().publish("events", "n7", b"x", [("ce_id", b"1")])
    assert consumer.poll(0) == [Message("events", "n7", b"x", 0, 0, 1, (("ce_id", b"1"),))]
    assert consumer.poll(0) == []


def test_order_is_kept_per_key_over_partitions() -> None:
    bus = MemoryBus(partitions=4)
    consumer = bus.consumer(["frames"], None)
    keys = [f"n{node}" for node in range(20)]
    for turn in range(5):
        for key in keys:
            publish(bus, f"{key}:{turn}", key=key)
    found = drain(consumer)
    for key in keys:
        own = [value for value in found if value.startswith(f"{key}:")]
        assert own == [f"{key}:{turn}" for turn in range(5)]


def test_topics_are_read_in_the_order_of_arrival() -> None:
    bus = MemoryBus(clock=Clock())
    consumer = bus.consumer(["frames", "events"], None)
    for turn in range(3):
        bus.producer().publish("frames", "n7", f"f{turn}".encode())
        bus.producer().publish("events", "n7", f"e{turn}".encode())
    assert drain(consumer, 3) == ["f0", "e0", "f1"]
    assert drain(consumer) == ["e1", "f2", "e2"]


def test_order_is_kept_when_the_clock_is_set_back() -> None:
    bus = MemoryBus(clock=Clock([30, 10, 20]))
    consumer = bus.consumer(["frames"], None)
    publish(bus, "a", "b", "c")
    assert drain(consumer) == ["a", "b", "c"]


def test_poll_returns_no_more_than_asked() -> None:
    bus = MemoryBus()
    consumer = bus.consumer(["frames"], None)
    publish(bus, "a", "b", "c")
    assert drain(consumer, 2) == ["a", "b"]
    assert consumer.lag() == 1
    assert drain(consumer, 2) == ["c"]
    assert consumer.lag() == 0


def test_consumer_without_group_begins_now() -> None:
    bus = MemoryBus()
    publish(bus, "before")
    consumer = bus.consumer(["frames"], None)
    publish(bus, "after")
    assert drain(consumer) == ["after"]


def test_consumer_from_the_beginning_reads_all() -> None:
    bus = MemoryBus()
    publish(bus, "before")
    assert drain(bus.consumer(["frames"], None, from_beginning=["frames"])) == ["before"]


def test_consumer_begins_where_it_is_told() -> None:
    bus = MemoryBus()
    publish(bus, "a", "b", "c")
    first = bus.consumer(["frames"], None, from_beginning=["frames"])
    first.poll(0, 2)
    assert drain(bus.consumer(["frames"], None, start=first.positions())) == ["c"]


def test_group_goes_on_where_it_committed() -> None:
    bus = MemoryBus()
    publish(bus, "a", "b", "c")
    first = bus.consumer(["frames"], "detect")
    assert drain(first, 1) == ["a"]
    first.commit()
    assert drain(first, 1) == ["b"]
    first.close()
    assert drain(bus.consumer(["frames"], "detect")) == ["b", "c"]
    assert drain(bus.consumer(["frames"], "other")) == ["a", "b", "c"]


def test_commit_without_group_is_not_remembered() -> None:
    bus = MemoryBus()
    bus.consumer(["frames"], None).commit()
    assert bus.committed == {}


def test_compacted_topic_keeps_the_latest_of_each_key() -> None:
    bus = MemoryBus()
    producer = bus.producer()
    for turn in range(3000):
        producer.publish("inventory", f"node/n{turn % 10}", str(turn).encode())
    found = bus.consumer(["inventory"], None, from_beginning=["inventory"]).poll(0, 5000)
    assert {m.key: m.value for m in found} == {
        f"node/n{turn % 10}": str(turn).encode() for turn in range(2990, 3000)
    }
    assert len(found) < 1500
    assert [m.offset for m in found] == sorted(m.offset for m in found)


def test_tombstone_of_a_compacted_topic_arrives_empty() -> None:
    bus = MemoryBus()
    consumer = bus.consumer(["state"], None)
    bus.producer().publish("state", "0#1", None)
    assert [(m.key, m.value) for m in consumer.poll(0)] == [("0#1", b"")]


def test_consumer_that_fell_behind_is_told_once_and_goes_on() -> None:
    bus = MemoryBus(keep_bytes=100)
    slow = bus.consumer(["frames"], None)
    publish(bus, *("x" * 40 for _ in range(5)))
    with pytest.raises(BusError, match="offset 0 is gone: the embedded bus kept 3 on"):
        slow.poll(0)
    assert [message.offset for message in slow.poll(0)] == [3, 4]
    assert len(drain(bus.consumer(["frames"], None, from_beginning=["frames"]))) == 2


def test_message_larger_than_the_bound_is_still_held() -> None:
    bus = MemoryBus(keep_bytes=10)
    consumer = bus.consumer(["frames"], None)
    publish(bus, "x" * 100)
    assert drain(consumer) == ["x" * 100]


def test_unknown_topic_is_refused() -> None:
    with pytest.raises(BusError, match="unknown topic 'gossip'; one of frames, jobs"):
        MemoryBus().producer().publish("gossip", "n7", b"")  # type: ignore[arg-type]


def test_poll_waits_for_another_thread() -> None:
    bus = MemoryBus()
    consumer = bus.consumer(["frames"], None)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.extend(values(consumer.poll(30))))
    reader.start()
    publish(bus, "late")
    reader.join(30)
    assert found == ["late"]


def test_nothing_is_lost_between_threads() -> None:
    bus = MemoryBus(partitions=3)
    consumer = bus.consumer(["frames"], None)

    def write(node: int) -> None:
        publish(bus, *(f"{node}:{turn}" for turn in range(200)), key=f"n{node}")

    writers = [threading.Thread(target=write, args=(node,)) for node in range(4)]
    for writer in writers:
        writer.start()
    found: list[str] = []
    while len(found) < 800 and (more := values(consumer.poll(30, 50))):
        found += more
    for writer in writers:
        writer.join()
    for node in range(4):
        own = [value for value in found if value.startswith(f"{node}:")]
        assert own == [f"{node}:{turn}" for turn in range(200)]


def test_closed_bus_holds_nothing() -> None:
    bus = MemoryBus()
    publish(bus, "a")
    bus.close()
    assert drain(bus.consumer(["frames"], None, from_beginning=["frames"])) == []


def test_producer_has_nothing_to_wait_for() -> None:
    producer = MemoryBus().producer()
    assert producer.flush(0)
    producer.close()
