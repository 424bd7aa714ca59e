"""The broker goes away under load and comes back: nothing is lost, order is kept."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest
from prometheus_client import CollectorRegistry

from forewarn import config
from forewarn.bus import Message, Producer
from forewarn.errors import BusError
from forewarn.kafka import KafkaBus
from tests.kafka.broker import Broker
from tests.kafka.waiting import take, until

KEYS = 5


class Load(threading.Thread):
    """Publishes numbered messages until told to stop; keeps a refused one and tries it again."""

    def __init__(self, producer: Producer) -> None:
        super().__init__()
        self._producer, self.count, self.refusals = producer, 0, 0
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(0.002):
            try:
                self._producer.publish("frames", f"n{self.count % KEYS}", b"%d" % self.count)
            except BusError:
                self.refusals += 1
                continue
            self.count += 1

    def more(self, count: int) -> None:
        """Wait until that many more were taken."""
        goal = self.count + count
        until(lambda: self.count >= goal)

    def stop(self) -> None:
        self.stopped.set()
        self.join()


@pytest.fixture
def bus(own_settings: config.Kafka, registry: CollectorRegistry) -> Iterator[KafkaBus]:
    made = KafkaBus(own_settings, "test", registry)
    yield made
    made.close()


def numbers_by_key(messages: list[Message]) -> dict[str, list[int]]:
    found = defaultdict(list)
    for message in messages:
        found[message.key].append(int(message.value))
    return dict(found)


def published(count: int) -> dict[str, list[int]]:
    return {f"n{key}": list(range(key, count, KEYS)) for key in range(KEYS)}


@pytest.mark.parametrize("end", [Broker.stop, Broker.kill])
def test_outage_loses_nothing_keeps_order_and_repeats_nothing(
    end: Callable[[Broker], None], bus: KafkaBus, own_broker: Broker, registry: CollectorRegistry
) -> None:
    consumer = bus.consumer(["frames"], group=None)
    producer = bus.producer()
    load = Load(producer)
    load.start()
    found = take(consumer, 50)
    end(own_broker)
    load.more(100)

    def told() -> bool:
        found.extend(consumer.poll(0.1))
        return registry.get_sample_value("forewarn_bus_up") == 0

    until(told)
    assert registry.get_sample_value("forewarn_bus_buffered_messages") >= 100
    own_broker.start()
    load.more(100)
    load.stop()
    assert producer.flush(60)
    found += take(consumer, load.count - len(found))
    assert numbers_by_key(found) == published(load.count)
    assert registry.get_sample_value("forewarn_bus_buffered_messages") == 0
    assert registry.get_sample_value("forewarn_bus_up") == 1
    sent = registry.get_sample_value("forewarn_bus_published_total", {"topic": "frames"})
    assert sent == load.count


def test_full_buffer_refuses_and_goes_on_in_order(
    own_broker: Broker, own_settings: config.Kafka
) -> None:
    bus = KafkaBus(own_settings, "test", CollectorRegistry(), buffer_bytes=20_000)
    consumer = bus.consumer(["frames"], group=None)
    producer = bus.producer()
    load = Load(producer)
    load.start()
    load.more(50)
    own_broker.kill()
    until(lambda: load.refusals > 0)
    own_broker.start()
    load.more(200)
    load.stop()
    assert producer.flush(60)
    assert numbers_by_key(take(consumer, load.count)) == published(load.count)
    bus.close()


def test_failed_client_is_replaced_and_sends_again_in_order(
    bus: KafkaBus, registry: CollectorRegistry, own_broker: Broker
) -> None:
    consumer = bus.consumer(["frames"], group=None)
    producer = bus.producer()
    producer.publish("frames", "n0", b"0")
    assert producer.flush(30)
    own_broker.stop()
    for number in range(1, 20):
        producer.publish("frames", "n0", b"%d" % number)
    until(
        lambda: producer._lanes["frames"].waiting == producer._lanes["frames"].waiting.__class__()
    )
    # What kafka-python does when a producer id is lost: it fails every message it holds.
    producer._client._sender.force_close()
    own_broker.start()
    assert producer.flush(60)
    assert numbers_by_key(take(consumer, 20)) == {"n0": list(range(20))}
    assert registry.get_sample_value("forewarn_bus_resent_total") == 19


def test_consumer_made_while_the_broker_is_away_reads_once_it_is_back(
    bus: KafkaBus, own_broker: Broker
) -> None:
    producer = bus.producer()
    producer.publish("findings", "e", b"x")
    assert producer.flush(30)
    own_broker.stop()
    consumer = bus.consumer(["findings"], group="g")
    assert consumer.poll(0.1) == []
    own_broker.start()
    assert [message.value for message in take(consumer, 1)] == [b"x"]
