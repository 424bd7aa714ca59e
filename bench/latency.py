"""First NaN to webhook through a real Kafka: training loop, agent, detect, decide as processes.

Every time is read from the records themselves; only the arrival is the receiver's clock, which is
the same machine's. The peer is a bare message through the same broker in the same run. Where no
broker can run (no Java, no Maven) it says so and ends well.
"""

import sys
import tempfile
import time
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry

from forewarn import config, topics
from forewarn.kafka import KafkaBus
from forewarn.records import NANOSECONDS
from tests.detector.receiver import Received, Receiver, receiving
from tests.kafka import broker
from tests.kafka.line import STAGES, Line
from tests.kafka.waiting import until

JOBS, STEPS, STEP_SECONDS = 5, 120, 0.03
GOAL_SECONDS = 2.0


class _Incident(msgspec.Struct):
    entity: str
    first_evidence_at_unix_nano: int
    detected_at_unix_nano: int
    notified_at_unix_nano: int


class _Data(msgspec.Struct):
    incident: _Incident


class _Body(msgspec.Struct):
    type: str
    data: _Data


def opened(receiver: Receiver, job: str) -> tuple[Received, _Incident] | None:
    """Return the first webhook that told of the job, if it came."""
    for own in receiver.accepted():
        body = msgspec.json.decode(own.body, type=_Body)
        if body.data.incident.entity == f"job/{job}":
            return own, body.data.incident
    return None


def stages(received: Received, incident: _Incident) -> dict[str, float]:
    """Return seconds from the reading to each stage."""
    begin = incident.first_evidence_at_unix_nano
    times = {
        "incident": incident.detected_at_unix_nano,
        "webhook made": incident.notified_at_unix_nano,
        "webhook received": received.at_unix_nano,
    }
    return {name: (time_ - begin) / NANOSECONDS for name, time_ in times.items()}


def bare_seconds(settings: config.Kafka) -> float:
    """Return the median time of a bare message through the same broker, there and back."""
    bus = KafkaBus(settings, "bench", CollectorRegistry())
    consumer, producer = bus.consumer(["state"], None), bus.producer()
    consumer.poll(0.5)
    took = []
    for number in range(20):
        begin = time.perf_counter()
        producer.publish("state", "bench", str(number).encode())
        while not consumer.poll(1.0):
            pass
        took.append(time.perf_counter() - begin)
    bus.close()
    return sorted(took)[len(took) // 2]


def measure(line: Line, receiver: Receiver) -> list[dict[str, float]]:
    """Let a few jobs diverge one after the other; return the times of each."""
    line.start(*STAGES)
    until(lambda: all(line.ready(stage) for stage in STAGES))
    rows = []
    for number in range(JOBS):
        job = f"bench-{number}"
        line.train(job, STEPS, STEP_SECONDS)
        until(lambda own=job: opened(receiver, own) is not None)  # type: ignore[misc]
        found = opened(receiver, job)
        assert found is not None
        rows.append(stages(*found))
    line.stop()
    return rows


def show(rows: list[dict[str, float]], bare: float) -> float:
    """Print the times of each job and the ratio to a bare message; return the worst."""
    for number, row in enumerate(rows):
        text = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in row.items())
        print(f"job {number}: first NaN -> {text}")
    totals = sorted(row["webhook received"] for row in rows)
    median = totals[len(totals) // 2]
    print(f"first NaN to webhook: median {median:.3f} s, worst {totals[-1]:.3f} s")
    print(f"a bare message through the same broker: {bare:.3f} s; ratio {median / bare:.0f}")
    print(f"goal: below {GOAL_SECONDS:.0f} s: {'kept' if totals[-1] < GOAL_SECONDS else 'MISSED'}")
    return totals[-1]


def run(folder: Path) -> float:
    """Start a broker, measure, stop it."""
    own = broker.Broker(folder / "kafka")
    own.start()
    try:
        made = config.Kafka(bootstrap_servers=(own.address(),), nodes=1)
        topics.create(made)
        with receiving() as receiver:
            line = Line(folder, made, receiver.url)
            return show(measure(line, receiver), bare_seconds(made))
    finally:
        own.stop()


def main() -> int:
    """Measure; the exit code is 1 where the goal is missed."""
    if reason := broker.lacking():
        print(f"skipped: {reason}")
        return 0
    with tempfile.TemporaryDirectory(prefix="forewarn-bench-") as folder:
        return 0 if run(Path(folder)) < GOAL_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
