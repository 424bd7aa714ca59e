import threading
import zlib
from collections import defaultdict

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from forewarn import config, topics, wire
from forewarn.bus import MAX_MESSAGE_BYTES, TOPICS, Message, TopicName
from forewarn.errors import BusError
from forewarn.kafka import KafkaBus
from forewarn.records import Frame, Layout
from tests.kafka.broker import free_port
from tests.kafka.conftest import MakeBus
from tests.kafka.waiting import take, until


def values_by_key(messages: list[Message]) -> dict[str, list[bytes]]:
    found = defaultdict(list)
    for message in messages:
        found[message.key].append(message.value)
    return dict(found)


@pytest.mark.parametrize("topic", TOPICS)
def test_publish_to_each_topic_keeps_order_per_key(bus: KafkaBus, topic: TopicName) -> None:
    consumer = bus.consumer([topic], group=None, from_beginning=[topic])
    producer = bus.producer()
    for number in range(60):
        producer.publish(topic, f"key-{number % 6}", b"%d" % number)
    assert producer.flush(30)
    found = take(consumer, 60)
    assert values_by_key(found) == {
        f"key-{key}": [b"%d" % number for number in range(key, 60, 6)] for key in range(6)
    }
    assert {message.topic for message in found} == {topic}


def test_publish_puts_one_key_into_one_partition_and_uses_all(bus: KafkaBus) -> None:
    consumer = bus.consumer(["frames"], group=None)
    producer = bus.producer()
    for number in range(200):
        producer.publish("frames", f"node-{number % 100}", b"x")
    partitions = defaultdict(set)
    for message in take(consumer, 200):
        partitions[message.key].add(message.partition)
    assert {len(found) for found in partitions.values()} == {1}
    assert len(set.union(*partitions.values())) == TOPICS["frames"].partitions


def test_frames_through_the_broker_equal_frames_in(bus: KafkaBus) -> None:
    layout = wire.encode_layout(Layout(("gpu_temperature_celsius",), ("node/a",), (0,), (0,)))
    frames = [
        Frame("c", "a", "nvml", seq, 10**18 + seq, "boot", layout, bytes([seq] * 8), b"\x00")
        for seq in range(50)
    ]
    consumer = bus.consumer(["frames"], group=None)
    producer = bus.producer()
    for frame in frames:
        producer.publish("frames", frame.node, wire.encode_frame(frame), [("trace", b"\x00\xff")])
    found = take(consumer, 50)
    assert [wire.decode_frame(message.value) for message in found] == frames
    assert {message.headers for message in found} == {(("trace", b"\x00\xff"),)}


def test_messages_carry_the_append_time_of_the_broker(bus: KafkaBus) -> None:
    consumer = bus.consumer(["events"], group=None)
    producer = bus.producer()
    for _ in range(3):
        producer.publish("events", "n", b"x")
        assert producer.flush(30)
    times = [message.append_time_unix_nano for message in take(consumer, 3)]
    assert times == sorted(times)
    assert times[0] > 1_700_000_000 * 10**9


def test_consumer_without_group_starts_from_now(bus: KafkaBus) -> None:
    producer = bus.producer()
    producer.publish("events", "n", b"before")
    assert producer.flush(30)
    consumer = bus.consumer(["events"], group=None)
    producer.publish("events", "n", b"after")
    assert [message.value for message in take(consumer, 1)] == [b"after"]


def test_consumer_without_group_starts_where_told(bus: KafkaBus) -> None:
    producer = bus.producer()
    for number in range(10):
        producer.publish("incidents", "i", b"%d" % number)
    assert producer.flush(30)
    consumer = bus.consumer(["incidents"], group=None, start={("incidents", 0): 7})
    assert consumer.positions() == {("incidents", 0): 7}
    assert [message.offset for message in take(consumer, 3)] == [7, 8, 9]
    assert consumer.positions() == {("incidents", 0): 10}


def test_consumer_tells_an_offset_that_is_gone_and_goes_on(
    bus: KafkaBus, registry: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    producer = bus.producer()
    producer.publish("deadletter", "i", b"first")
    assert producer.flush(30)
    consumer = bus.consumer(["deadletter"], group=None, start={("deadletter", 0): 1000})
    assert [message.value for message in take(consumer, 1)] == [b"first"]
    assert registry.get_sample_value("forewarn_bus_gaps_total", {"topic": "deadletter"}) == 1
    assert "offset 1000 is gone" in caplog.text


def test_inventory_is_read_from_the_beginning_and_tombstones_are_empty(bus: KafkaBus) -> None:
    producer = bus.producer()
    producer.publish("inventory", "node/a", b"1")
    producer.publish("inventory", "node/b", b"1")
    producer.publish("inventory", "node/a", None)
    assert producer.flush(30)
    consumer = bus.consumer(["inventory", "events"], group=None, from_beginning=["inventory"])
    found = values_by_key(take(consumer, 3))
    assert found == {"node/a": [b"1", b""], "node/b": [b"1"]}


def test_group_goes_on_after_its_commit(bus: KafkaBus) -> None:
    producer = bus.producer()
    for number in range(20):
        producer.publish("findings", "e", b"%d" % number)
    assert producer.flush(30)
    first = bus.consumer(["findings"], group="g")
    done = take(first, 1)
    first.commit()
    first.close()
    second = bus.consumer(["findings"], group="g")
    rest = take(second, 20 - len(done))
    assert [message.value for message in done + rest] == [b"%d" % n for n in range(20)]


def test_group_without_commit_gets_its_messages_again(bus: KafkaBus) -> None:
    producer = bus.producer()
    producer.publish("findings", "e", b"x")
    first = bus.consumer(["findings"], group="g")
    take(first, 1)
    first.close()
    assert [message.value for message in take(bus.consumer(["findings"], group="g"), 1)] == [b"x"]


class Member(threading.Thread):
    """A member of a group that polls and commits in its own thread."""

    def __init__(self, bus: KafkaBus) -> None:
        super().__init__()
        self._consumer = bus.consumer(["frames"], group="g")
        self.found: list[Message] = []
        self.partitions = 0
        self.leave = threading.Event()

    def run(self) -> None:
        while not self.leave.is_set():
            self.found += self._consumer.poll(0.1)
            self._consumer.commit()
            self.partitions = len(self._consumer.positions())
        self._consumer.close()


def test_group_shares_partitions_and_reads_each_message_once(make_bus: MakeBus) -> None:
    members = [Member(make_bus()), Member(make_bus())]
    producer = make_bus().producer()
    members[0].start()
    for number in range(100):
        producer.publish("frames", f"n{number}", b"before")
    until(lambda: len(members[0].found) == 100)
    members[1].start()
    until(lambda: [member.partitions for member in members] == [4, 4])
    for number in range(100):
        producer.publish("frames", f"n{number}", b"after")
    until(lambda: sum(len(member.found) for member in members) >= 200)
    for member in members:
        member.leave.set()
        member.join()
    found = [(m.partition, m.offset) for member in members for m in member.found]
    assert len(set(found)) == len(found) == 200
    assert members[1].found


def test_lag_counts_what_was_not_polled(bus: KafkaBus, registry: CollectorRegistry) -> None:
    consumer = bus.consumer(["jobs"], group=None)
    producer = bus.producer()
    for number in range(12):
        producer.publish("jobs", f"j{number}", b"x")
    assert producer.flush(30)
    assert consumer.lag() == 12
    assert registry.get_sample_value("forewarn_bus_lag_messages", {"topic": "jobs"}) == 12
    take(consumer, 12)
    assert consumer.lag() == 0


def test_metrics_count_what_went_through(bus: KafkaBus, registry: CollectorRegistry) -> None:
    consumer = bus.consumer(["events"], group=None)
    producer = bus.producer()
    for _ in range(5):
        producer.publish("events", "n", b"x")
    assert producer.flush(30)
    take(consumer, 5)
    events = {"topic": "events"}
    assert registry.get_sample_value("forewarn_bus_published_total", events) == 5
    assert registry.get_sample_value("forewarn_bus_consumed_total", events) == 5
    assert registry.get_sample_value("forewarn_bus_buffered_messages") == 0
    assert registry.get_sample_value("forewarn_bus_buffered_bytes") == 0
    assert registry.get_sample_value("forewarn_bus_up") == 1
    assert registry.get_sample_value("forewarn_kafka_crc32c_native") == 1


def test_publish_refuses_an_unknown_topic(bus: KafkaBus) -> None:
    with pytest.raises(BusError, match="unknown topic 'nosuch'; one of frames"):
        bus.producer().publish("nosuch", "k", b"x")  # type: ignore[arg-type]


def test_publish_refuses_what_is_too_large(bus: KafkaBus) -> None:
    with pytest.raises(BusError, match=f"for frames is larger than {MAX_MESSAGE_BYTES}"):
        bus.producer().publish("frames", "k", bytes(MAX_MESSAGE_BYTES))


def test_largest_message_goes_through(bus: KafkaBus) -> None:
    value = b"".join(zlib.crc32(b"%d" % n).to_bytes(4) for n in range(MAX_MESSAGE_BYTES // 4 - 64))
    consumer = bus.consumer(["frames"], group=None)
    bus.producer().publish("frames", "k", value)
    assert take(consumer, 1)[0].value == value


def test_missing_topic_is_told_with_the_fix(settings: config.Kafka, make_bus: MakeBus) -> None:
    bus = make_bus(msgspec.structs.replace(settings, topic_prefix="none."))
    with pytest.raises(BusError, match=r"no topic none\.events: run `forewarn topics create`"):
        bus.consumer(["events"], group=None)


def test_publish_to_a_missing_topic_is_refused_then_kept_until_it_is_there(
    settings: config.Kafka, make_bus: MakeBus
) -> None:
    late = msgspec.structs.replace(settings, topic_prefix=settings.topic_prefix + "late.")
    bus = make_bus(late)
    producer = bus.producer()
    producer.publish("events", "n", b"early")

    def refused() -> bool:
        try:
            producer.publish("events", "n", b"more")
        except BusError as error:
            return "run `forewarn topics create`" in str(error)
        return False

    until(refused)
    topics.create(late)
    assert producer.flush(60)
    consumer = bus.consumer(["events"], group=None, from_beginning=["events"])
    assert take(consumer, 1)[0].value == b"early"


def test_absent_broker_leaves_the_buffer_bounded_and_says_so(
    make_bus: MakeBus, registry: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    nobody = config.Kafka(bootstrap_servers=(f"127.0.0.1:{free_port()}",))
    bus = make_bus(nobody, registry=registry, buffer_bytes=10_000)
    producer = bus.producer()
    consumer = bus.consumer(["events"], group=None, start={("events", 0): 5})
    for _ in range(10):
        producer.publish("events", "n", bytes(800))
    with pytest.raises(BusError, match=r"buffer for Kafka is full \(10 messages"):
        producer.publish("events", "n", bytes(1000))
    assert not producer.flush(0.1)
    assert consumer.poll(0.1) == []
    assert consumer.positions() == {("events", 0): 5}
    assert registry.get_sample_value("forewarn_bus_buffered_bytes") <= 10_000
    assert registry.get_sample_value("forewarn_bus_up") == 0
    assert caplog.text.count("does not answer: is it running") == 1
