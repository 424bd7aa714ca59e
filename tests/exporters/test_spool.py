import pytest

from exporters.spool import Spool
from forewarn.memory import MemoryBus
from tests.exporters.fakes import RefusingProducer, until


def values(bus: MemoryBus) -> list[bytes]:
    consumer = bus.consumer(["frames"], None, from_beginning=["frames"])
    return [message.value for message in consumer.poll(0.0)]


def test_what_waits_while_the_bus_is_away_is_caught_up_in_order(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus = MemoryBus()
    producer = RefusingProducer(bus)
    producer.away = True
    own = Spool(producer, 1 << 20)
    for number in range(50):
        own.send("frames", "n7", b"%d" % number)
    until(lambda: producer.calls >= 2)
    assert values(bus) == []
    assert own.bytes == sum(len(b"%d" % n) for n in range(50))
    producer.away = False
    own.send("frames", "n7", b"50")
    until(own.empty)
    assert values(bus) == [b"%d" % n for n in range(51)]
    assert (own.bytes, own.dropped_samples) == (0, 0)
    own.close(1.0)
    assert [r.levelname for r in caplog.records if "holding back" in r.getMessage()] == ["WARNING"]


def test_a_full_buffer_drops_the_oldest_and_counts_their_samples() -> None:
    bus = MemoryBus()
    producer = RefusingProducer(bus)
    producer.away = True
    own = Spool(producer, 100)
    for number in range(20):
        own.send("frames", "n7", b"%010d" % number, samples=7)
    assert own.bytes == 100
    assert own.dropped_samples == 70
    producer.away = False
    until(own.empty)
    assert values(bus) == [b"%010d" % n for n in range(10, 20)]
    own.close(1.0)


def test_closing_hands_over_the_rest() -> None:
    bus = MemoryBus()
    own = Spool(bus.producer(), 1 << 20)
    for number in range(1000):
        own.send("frames", "n7", b"%d" % number)
    own.close(30.0)
    assert len(values(bus)) == 1000


def test_closing_while_the_bus_is_away_gives_up_in_time_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    producer = RefusingProducer(MemoryBus())
    producer.away = True
    own = Spool(producer, 1 << 20)
    own.send("frames", "n7", b"1")
    own.close(0.1)
    assert "ended with 1 messages not handed over" in caplog.text


def test_it_serves_as_a_producer_of_dead_letters() -> None:
    bus = MemoryBus()
    own = Spool(bus.producer(), 1 << 20)
    own.publish("frames", "n7", b"x")
    assert own.flush(30.0)
    assert values(bus) == [b"x"]
    own.close(1.0)
