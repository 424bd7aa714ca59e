"""Real input through the real broker: a loop diverges, and somebody is told why."""

import math
import os
import random
import threading
from array import array
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from forewarn import config, wire
from forewarn.kafka import KafkaBus
from forewarn.records import Frame
from tests.detector import samples
from tests.detector.receiver import Received, Receiver, receiving
from tests.kafka.broker import Broker
from tests.kafka.line import STAGES, Line
from tests.kafka.waiting import until

# FOREWARN_LONG=1 takes an outage of a minute and more kills: beyond what every run should wait for.
LONG = os.environ.get("FOREWARN_LONG") == "1"
STEPS, STEP_SECONDS = 3000 if LONG else 400, 0.03
OUTAGE_SECONDS = 60 if LONG else 0
KILLS = 20 if LONG else 6
NUMERICS_OR_DATA = {"TRN-02", "TRN-03"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as own:
        yield own


@pytest.fixture
def line(tmp_path: Path, own_settings: config.Kafka, receiver: Receiver) -> Iterator[Line]:
    own = Line(tmp_path, own_settings, receiver.url)
    yield own
    own.stop()


def job_frames(settings: config.Kafka) -> list[Frame]:
    """Return every frame of topic `jobs`, in the order of the broker."""
    bus = KafkaBus(settings, "test", CollectorRegistry())
    consumer = bus.consumer(["jobs"], None, from_beginning=["jobs"])
    found = []
    while consumer.lag():
        found += consumer.poll(0.2)
    bus.close()
    return [wire.decode_frame(message.value) for message in found]


class Told(msgspec.Struct):
    """The parts of a webhook's body that are looked at."""

    incident: dict[str, Any]
    top_causes: list[dict[str, Any]]
    evidence: list[dict[str, Any]]


class Body(msgspec.Struct):
    id: str
    data: Told


def nans(receiver: Receiver) -> list[Told]:
    """Return what was told with a NaN in its evidence."""
    bodies = [msgspec.json.decode(own.body, type=Body) for own in receiver.accepted()]
    told = [body.data for body in bodies]
    return [own for own in told if any(f["signal"] == "job.nan" for f in own.evidence)]


def first_broken_unix_nano(frames: list[Frame]) -> int:
    """Return the time of the first frame whose loss is infinite or NaN."""
    layouts = wire.LayoutCache()
    for frame in frames:
        values = array("d", frame.values)
        for (signal, _), value in zip(layouts.get(frame.layout).pairs(), values, strict=True):
            if signal == "job_loss" and not math.isfinite(value):
                return frame.time_unix_nano
    raise AssertionError("the loop never diverged")


def test_diverging_training_is_told_with_its_cause_across_an_outage(
    line: Line, own_broker: Broker, own_settings: config.Kafka, receiver: Receiver
) -> None:
    line.start(*STAGES)
    until(lambda: all(line.ready(stage) for stage in STAGES))
    training = line.train("4711", STEPS, STEP_SECONDS)
    until(lambda: len(job_frames(own_settings)) > 20)
    own_broker.kill()
    until(lambda: "forewarn_bus_up 0.0" in line.metrics("agent"))
    threading.Event().wait(OUTAGE_SECONDS)
    until(lambda: training.poll() is not None, 4 * STEPS * STEP_SECONDS + 60)
    own_broker.start()
    until(lambda: bool(nans(receiver)))
    told, *_ = nans(receiver)
    assert told.incident["entity"] == "job/4711"
    assert told.top_causes[0]["runbook"].split("@")[0] in NUMERICS_OR_DATA
    assert all(told.top_causes[0]["title"][language] for language in ("en", "zh"))
    assert line.stop() == {**dict.fromkeys(STAGES, 0), "training": 0}
    frames = job_frames(own_settings)
    assert len(frames) >= STEPS
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    opened = [own["opened_at_unix_nano"] for own in told.evidence if own["code"] == "job.nan:loss"]
    # Detect keeps times in float64, which holds them to a quarter of a microsecond.
    assert opened == [pytest.approx(first_broken_unix_nano(frames), abs=1000)]


def test_decide_killed_between_finding_and_webhook_tells_each_change_once(
    line: Line, own_settings: config.Kafka, receiver: Receiver
) -> None:
    chance = random.Random(3)
    put = KafkaBus(own_settings, "test", CollectorRegistry()).producer()
    for item in samples.inventory():
        put.publish("inventory", item.entity, wire.encode_inventory(item))
    line.start("decide")
    until(lambda: line.ready("decide"))
    for number in range(KILLS):
        own = samples.finding(samples.XID_79, samples.gpu(number, number), number)
        put.publish("findings", own.entity, wire.encode_finding(own))
        assert put.flush(30)
        threading.Event().wait(chance.uniform(0, 1.6))
        line.kill("decide")
        line.start("decide")
    until(lambda: len(ids(receiver.accepted())) >= KILLS and line.ready("decide"))
    put.close()
    assert line.stop() == {"decide": 0}
    told = ids(receiver.received)
    assert len(told) == KILLS
    assert len({id_.partition(":")[0] for id_ in told}) == KILLS
    assert all(len(bodies) == 1 for bodies in told.values())


def ids(requests: list[Received]) -> dict[str, set[bytes]]:
    """Return the bodies by webhook-id."""
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for request in requests:
        bodies[request.headers["webhook-id"]].add(request.body)
    return bodies
