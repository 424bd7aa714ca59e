"""Live through the broker equals replay of the recording."""

import itertools
import threading
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import CollectorRegistry

import simulator
from detector.engine import Engine
from forewarn import recording, wire
from forewarn.bus import Message, Producer, TopicName
from forewarn.deadletter import DeadLetters
from forewarn.errors import BusError
from forewarn.kafka import KafkaBus
from forewarn.memory import MemoryBus
from forewarn.records import Finding

SECONDS = 900
TOPICS: tuple[TopicName, ...] = ("inventory", "events", "jobs", "frames")


def messages(seconds: int) -> list[tuple[TopicName, str, bytes]]:
    """Return what a simulated cluster publishes in its first seconds."""
    scenario = simulator.load(simulator.built_in()["demo"])
    found: list[tuple[TopicName, str, bytes]] = []
    for instant in itertools.islice(simulator.simulate(scenario, 1), seconds):
        found += [("inventory", i.entity, wire.encode_inventory(i)) for i in instant.inventory]
        found += [("events", e.node, wire.encode_event(e)) for e in instant.events]
        found += [("jobs", f.source, wire.encode_frame(f)) for f in instant.job_frames]
        found += [("frames", f.node, wire.encode_frame(f)) for f in instant.frames]
    return found


def feed(producer: Producer, published: list[tuple[TopicName, str, bytes]]) -> None:
    """Publish all; where the producer holds all that it may, wait for the broker."""
    for own in published:
        while True:
            try:
                producer.publish(*own)
            except BusError:
                threading.Event().wait(0.05)
            else:
                break


def detect(batches: Iterable[list[Message]]) -> list[Finding]:
    registry = CollectorRegistry()
    dead = DeadLetters(MemoryBus().producer(), "test", registry)
    engine = Engine("sim-64", registry, dead)
    found = [finding for batch in batches for finding in engine.feed(batch)]
    return found + engine.flush()


def test_replay_of_a_recording_gives_the_findings_of_the_live_run(
    bus: KafkaBus, tmp_path: Path
) -> None:
    path, published = tmp_path / "live.fwrec", messages(SECONDS)
    consumer = bus.consumer(TOPICS, None, from_beginning=TOPICS)
    producer = bus.producer()
    feeder = threading.Thread(target=feed, args=(producer, published))
    feeder.start()
    seen: list[list[Message]] = []
    with recording.Writer(path, "sim-64") as writer:
        while sum(map(len, seen)) < len(published):
            seen.append(consumer.poll(0.2, 500))
            for message in seen[-1]:
                writer.write(message)
    feeder.join()
    live = detect(seen)
    replayed = detect([[message] for message in recording.read(path)])
    assert live
    assert replayed == live
