import logging
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from detector.incidents.database import Database
from detector.notify.backoff import CAP_SECONDS, MAX_AGE_SECONDS, delay_seconds
from detector.notify.channel import Channel, Result
from detector.notify.delivery import Delivery
from detector.notify.outbox import Note, Outbox, Row, RowKind
from detector.notify.post import Post
from detector.notify.telemetry import DeliveryMetrics
from forewarn import wire
from forewarn.config import Settings, Webhook
from forewarn.deadletter import DeadLetters
from forewarn.errors import ConfigError
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS

OK, BUSY, BAD, GONE = (
    Result("ok", "HTTP 204"), Result("retry", "HTTP 503"), Result("permanent", "HTTP 400"),
    Result("gone", "HTTP 410"),
)  # fmt: skip
T0 = 1_764_500_000 * NANOSECONDS


class FakeChannel(Channel):
    """Answers as told, one a row, the last one for ever."""

    name = "ops"

    def __init__(self, *answers: Result) -> None:
        self.answers = list(answers)
        self.sent: list[Note] = []

    def send(self, row: Row) -> Result:
        self.sent.append(row.note)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def close(self) -> None:
        """Nothing is held."""


class Rig:
    """A delivery with a clock that is moved by hand."""

    def __init__(self, path: Path) -> None:
        self.now = T0
        self.database = Database(path)
        self.outbox = Outbox(self.database)
        self.registry = CollectorRegistry()
        self.metrics = DeliveryMetrics(self.registry)
        self.dead: list[tuple[str, str, str]] = []

    def delivery(self, channel: Channel) -> Delivery:
        return Delivery(
            channel, self.outbox, self.metrics,
            lambda name, row, reason: self.dead.append((name, row.note.webhook_id, reason)),
            lambda: self.now, random.Random(1),
        )  # fmt: skip

    def add(self, seq: int, kind: RowKind = "open", incident: str = "A") -> None:
        id_ = f"{incident}:1:{seq}"
        self.outbox.add([Note("ops", incident, id_, kind, id_.encode(), self.now)])

    def advance(self, seconds: float) -> None:
        self.now += int(seconds * NANOSECONDS)

    def count(self, outcome: str) -> float | None:
        labels = {"channel": "ops", "outcome": outcome}
        return self.registry.get_sample_value("forewarn_deliveries_total", labels)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    own = Rig(tmp_path / "decide.sqlite")
    yield own
    own.database.close()


def test_retry_sends_the_same_bytes_under_the_same_id_until_accepted(rig: Rig) -> None:
    channel = FakeChannel(BUSY, BUSY, OK)
    delivery = rig.delivery(channel)
    rig.add(1)
    for _ in range(50):
        rig.advance(delivery.step())
    assert [own.webhook_id for own in channel.sent] == ["A:1:1"] * 3
    assert {own.body for own in channel.sent} == {b"A:1:1"}
    assert (rig.count("retry"), rig.count("ok")) == (2, 1)
    assert rig.outbox.next("ops") is None


def test_resolve_waits_for_its_opening(rig: Rig) -> None:
    channel = FakeChannel(BUSY, OK)
    delivery = rig.delivery(channel)
    rig.add(1)
    rig.add(2, "resolve")
    for _ in range(50):
        rig.advance(delivery.step())
    assert [own.webhook_id for own in channel.sent] == ["A:1:1", "A:1:1", "A:1:2"]


def test_retry_after_holds_the_whole_channel(rig: Rig) -> None:
    channel = FakeChannel(Result("retry", "HTTP 429", 120.0), OK)
    delivery = rig.delivery(channel)
    rig.add(1)
    rig.add(1, incident="B")
    delivery.step()
    assert delivery.step() == pytest.approx(120.0)
    rig.advance(119)
    delivery.step()
    assert len(channel.sent) == 1
    rig.advance(1)
    delivery.step()
    delivery.step()
    assert [own.incident for own in channel.sent[1:]] == ["B", "A"]


def test_refused_for_good_is_given_up_and_the_next_goes_on(rig: Rig) -> None:
    delivery = rig.delivery(FakeChannel(BAD, OK))
    rig.add(1)
    rig.add(1, incident="B")
    delivery.step()
    delivery.step()
    assert rig.dead == [("ops", "A:1:1", "HTTP 400")]
    assert rig.outbox.pending() == {}


def test_gone_endpoint_disables_the_channel(rig: Rig) -> None:
    rig.outbox.register("ops", "one")
    delivery = rig.delivery(FakeChannel(GONE))
    rig.add(1)
    rig.add(1, incident="B")
    delivery.step()
    assert rig.outbox.disabled() == {"ops": "HTTP 410"}
    assert rig.outbox.next("ops") is None


def test_note_is_given_up_after_a_day(rig: Rig) -> None:
    channel = FakeChannel(BUSY)
    delivery = rig.delivery(channel)
    rig.add(1)
    while not rig.dead:
        rig.advance(max(delivery.step(), 1.0))
    assert rig.now - T0 >= MAX_AGE_SECONDS * NANOSECONDS
    assert rig.now - T0 < (MAX_AGE_SECONDS + 2 * CAP_SECONDS) * NANOSECONDS
    assert rig.dead == [("ops", "A:1:1", "HTTP 503")]


def test_failure_and_recovery_are_logged_once_each(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    delivery = rig.delivery(FakeChannel(BUSY, BUSY, BUSY, OK))
    rig.add(1)
    for _ in range(50):
        rig.advance(delivery.step())
    told = [own.getMessage() for own in caplog.records]
    assert told == ["channel ops: HTTP 503", "channel ops: HTTP 204"]


def test_backoff_grows_to_its_cap_with_full_jitter() -> None:
    chance = random.Random(1)
    bounds = {1: 2.0, 3: 8.0, 8: 256.0, 9: CAP_SECONDS, 10_000: CAP_SECONDS}
    for attempts, bound in bounds.items():
        drawn = [delay_seconds(attempts, chance) for _ in range(500)]
        assert all(0 <= own <= bound for own in drawn)
        assert min(drawn) < bound / 10
        assert max(drawn) > bound * 9 / 10


def post(settings: Settings, rig: Rig, bus: MemoryBus) -> Post:
    producer, registry = bus.producer(), CollectorRegistry()
    dead = DeadLetters(producer, "decide", registry, lambda: rig.now)
    return Post(settings, rig.outbox, producer, registry, dead, lambda: rig.now)


def test_webhook_under_the_name_of_the_topic_is_refused(rig: Rig) -> None:
    hook = Webhook(name="incidents", url="http://127.0.0.1:1/")
    with pytest.raises(ConfigError, match="webhook incidents: name"):
        post(Settings(webhook=(hook,)), rig, MemoryBus())


def test_note_given_up_is_buried_and_told_on_the_other_channels(rig: Rig) -> None:
    bus = MemoryBus()
    hooks = tuple(Webhook(name=name, url="http://127.0.0.1:1/") for name in ("ops", "chat"))
    settings = Settings(cluster="c", webhook=hooks)
    mail = post(settings, rig, bus)
    rig.add(1)
    row = rig.outbox.next("ops")
    assert row is not None
    mail.given_up("ops", row, "HTTP 400")
    (letter,) = bus.consumer(("deadletter",), None, from_beginning=("deadletter",)).poll(0)
    buried = wire.decode_deadletter(letter.value)
    assert (buried.reason, buried.payload) == ("undelivered", b"A:1:1")
    alert = rig.outbox.next("chat")
    assert alert is not None
    event = msgspec.json.decode(alert.note.body)
    assert event["type"] == "io.forewarn.delivery.failed"
    assert event["data"]["undelivered"] == "A:1:1"
    mail.given_up("chat", alert, "HTTP 400")  # an alert about an alert is not made
    assert rig.outbox.pending()["ops"] == 1
