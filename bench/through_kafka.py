"""Frames through a real Kafka: our bus beside bare kafka-python, in the same run.

Where no broker can run (no Java, no Maven) it says so and ends well.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kafka as kafka_python
from prometheus_client import CollectorRegistry

from forewarn import config, topics
from forewarn.bus import Producer
from forewarn.errors import BusError
from forewarn.kafka import KafkaBus
from tests.kafka import broker

FRAMES, FRAME_BYTES, NODES = 20_000, 4096, 500
LIMIT_SECONDS = 120.0


def values() -> list[tuple[str, bytes]]:
    """Return keys and values; half of each frame is noise, as readings are to a compressor."""
    rows = (os.urandom(FRAME_BYTES // 2) + bytes(FRAME_BYTES // 2) for _ in range(NODES))
    frames = [(f"n{number}", row) for number, row in enumerate(rows)]
    return [frames[number % NODES] for number in range(FRAMES)]


def timed(what: str, work: Callable[[], int]) -> float:
    """Do the work on `FRAMES` frames; print and return frames per second."""
    begin = time.perf_counter()
    count = work()
    rate = count / (time.perf_counter() - begin)
    print(f"{what:<34} {rate:>9,.0f} frames/s {rate * FRAME_BYTES / 2**20:>8,.1f} MiB/s")
    assert count == FRAMES
    return rate


def ours(settings: config.Kafka, frames: list[tuple[str, bytes]]) -> tuple[float, float]:
    """Publish and read through our bus; return both rates."""
    bus = KafkaBus(settings, "bench", CollectorRegistry())
    producer = bus.producer()

    def publish() -> int:
        for key, value in frames:
            while not _publish(producer, key, value):
                time.sleep(0.001)
        assert producer.flush(LIMIT_SECONDS)
        return len(frames)

    out = timed("our bus, publish", publish)
    consumer = bus.consumer(["frames"], None, from_beginning=["frames"])

    def read() -> int:
        count, end = 0, time.monotonic() + LIMIT_SECONDS
        while count < FRAMES and time.monotonic() < end:
            count += len(consumer.poll(1.0, 5000))
        return count

    into = timed("our bus, poll", read)
    bus.close()
    return out, into


def _publish(producer: Producer, key: str, value: bytes) -> bool:
    try:
        producer.publish("frames", key, value)
    except BusError:
        return False
    return True


def bare(settings: config.Kafka, frames: list[tuple[str, bytes]]) -> tuple[float, float]:
    """Send and read with kafka-python alone, set up as in our bus; return both rates."""
    topic, servers = f"{settings.topic_prefix}jobs", list(settings.bootstrap_servers)
    producer = kafka_python.KafkaProducer(
        bootstrap_servers=servers, acks="all", compression_type=settings.compression,
        linger_ms=5, batch_size=256 * 1024, max_request_size=4 * 2**20,
    )  # fmt: skip

    def publish() -> int:
        for key, value in frames:
            producer.send(topic, value, key.encode())
        producer.flush(LIMIT_SECONDS)
        return len(frames)

    out = timed("kafka-python, send", publish)
    producer.close()
    consumer = kafka_python.KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    parts = sorted(consumer.partitions_for_topic(topic))
    consumer.assign([kafka_python.TopicPartition(topic, part) for part in parts])

    def read() -> int:
        count, end = 0, time.monotonic() + LIMIT_SECONDS
        while count < FRAMES and time.monotonic() < end:
            batches = consumer.poll(1000, max_records=5000)
            count += sum(len(batch) for batch in batches.values())
        return count

    into = timed("kafka-python, poll", read)
    consumer.close()
    return out, into


def main() -> None:
    """Run both and print their ratio."""
    if reason := broker.lacking():
        print(f"skipped: {reason}")
        return
    with tempfile.TemporaryDirectory(prefix="forewarn-bench-") as folder:
        own = broker.Broker(Path(folder))
        own.start()
        try:
            settings = config.Kafka(bootstrap_servers=(own.address(),), nodes=1)
            topics.create(settings)
            frames = values()
            peer, mine = bare(settings, frames), ours(settings, frames)
            print(f"ratio to kafka-python: out {mine[0] / peer[0]:.2f}, in {mine[1] / peer[1]:.2f}")
        finally:
            own.stop()


if __name__ == "__main__":
    main()
