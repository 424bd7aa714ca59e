"""The Alertmanager channel against a receiver that only keeps what it is sent."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from detector.incidents.actions import resolve
from detector.notify.alertmanager import MAX_BYTES, AlertmanagerChannel, Timing, chunks
from detector.notify.delivery import Delivery
from detector.notify.formats import FORMATS, Undelivered
from detector.notify.formats import alertmanager as format_
from detector.notify.formats.telling import Telling
from detector.notify.outbox import KEEP_SECONDS, Note, Outbox, Row
from detector.notify.telemetry import DeliveryMetrics
from forewarn.config import Secret, Settings, Webhook
from forewarn.incident import Hypothesis, Incident, Step
from forewarn.language import Text
from forewarn.records import NANOSECONDS
from tests.detector import samples
from tests.detector.desk import Stage
from tests.detector.receiver import Receiver, receiving
from tests.detector.samples import closed, finding, gpu

HOT = finding(samples.HOT, gpu(1, 3), 0)
TIMING = Timing()


class Rig:
    """Decide with one such channel; its clock is moved by hand."""

    def __init__(self, folder: Path, receiver: Receiver) -> None:
        hook = Webhook(name="am", url=receiver.url.partition("/hook")[0], format="alertmanager")
        self.receiver = receiver
        self.stage = Stage(
            folder / "decide.sqlite",
            Settings(cluster="c", webhook=(hook,)),
            samples.inventory(),
        )
        database, self.registry = self.stage.store.database, CollectorRegistry()
        self.outbox = Outbox(database, lambda: self.stage.now)
        self.channel = AlertmanagerChannel(hook, database, lambda: self.stage.now)
        self.dead: list[str] = []
        self.delivery = Delivery(
            self.channel, self.outbox, DeliveryMetrics(self.registry),
            lambda name, row, reason: self.dead.append(reason),
            lambda: self.stage.now, random.Random(1),
        )  # fmt: skip

    def deliver(self) -> list[list[dict[str, Any]]]:
        """Do all that is due now; return the requests that were accepted meanwhile."""
        before = len(self.receiver.accepted())
        while self.delivery.step() == 0.0:
            pass
        return [msgspec.json.decode(own.body) for own in self.receiver.accepted()[before:]]

    def after(self, seconds: float) -> list[list[dict[str, Any]]]:
        self.stage.now += int(seconds * NANOSECONDS)
        return self.deliver()

    def end(self) -> Incident:
        (own,) = self.stage.living()
        return self.stage.decide.act(own.id, resolve("ann"))

    def rows(self, table: str) -> int:
        with self.stage.store.database.read() as connection:
            count: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            return count


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with receiving() as receiver:
        own = Rig(tmp_path, receiver)
        yield own
        own.channel.close()
        own.stage.close()


def is_firing(rig: Rig, alert: dict[str, Any]) -> bool:
    return bool(alert["endsAt"] > format_.rfc3339(rig.stage.now))


def test_alert_is_posted_as_the_api_takes_it(rig: Rig) -> None:
    rig.stage.feed(HOT)
    ((alert,),) = rig.deliver()
    (incident,) = rig.stage.living()
    (request,) = rig.receiver.received
    assert request.headers["content-type"] == "application/json"
    assert request.path == "/api/v2/alerts"
    assert alert["labels"] == {
        "alertname": "ForewarnIncident", "cluster": "c", "incident_id": incident.id,
        "severity": "minor", "entity": gpu(1, 3), "node": "n1", "gpu": "0000:03:00.0",
    }  # fmt: skip
    assert alert["generatorURL"].endswith(f"/incidents/{incident.id}")
    assert alert["startsAt"] < alert["endsAt"]
    assert all(isinstance(own, str) and own for own in alert["annotations"].values())


def test_what_fires_is_said_again_every_minute_and_makes_no_rows(rig: Rig) -> None:
    rig.stage.feed(HOT)
    rig.deliver()
    before, ends = rig.rows("outbox"), set()
    for _ in range(10):
        ((alert,),) = rig.after(TIMING.resend)
        assert is_firing(rig, alert)
        ends.add(alert["endsAt"])
    assert len(ends) == 10
    assert (rig.rows("outbox"), rig.rows("standing")) == (before, 1)
    assert rig.after(TIMING.resend / 2) == []


def test_end_waits_until_the_alert_has_fired_for_a_while_and_is_said_again(rig: Rig) -> None:
    rig.stage.feed(HOT)
    rig.deliver()
    rig.end()
    assert rig.deliver() == []
    told = [alert for step in range(3) for (alert,) in rig.after(40)]
    assert not is_firing(rig, told[-1])
    assert is_firing(rig, msgspec.json.decode(rig.receiver.accepted()[0].body)[0])
    again = rig.after(TIMING.resend)
    assert [own["endsAt"] for (own,) in again] == [told[-1]["endsAt"]]
    rig.after(TIMING.resolved)
    assert rig.after(TIMING.resend) == []
    assert rig.rows("standing") == 0
    labels = {"channel": "am", "outcome": "retry"}
    assert rig.registry.get_sample_value("forewarn_deliveries_total", labels) is None


def test_opened_and_ended_while_nobody_answered_is_told_as_both(rig: Rig) -> None:
    rig.receiver.answers = [(503, {})]
    rig.stage.feed(HOT)
    rig.deliver()
    rig.end()
    rig.after(600)
    rig.receiver.answers = [(200, {})]
    told = [is_firing(rig, alert) for _ in range(20) for (alert,) in rig.after(60)]
    assert (told[0], told[-1]) == (True, False)
    assert told.count(True) >= 2


def test_merged_incident_ends_at_once(rig: Rig) -> None:
    for slot in range(4):
        rig.stage.feed(finding(samples.HOT, gpu(2, slot), slot))
        rig.deliver()
    firing = [own for own in rig.channel._alerts.all() if own.ended_at_unix_nano is None]
    assert {own.alert.labels["entity"] for own in firing} == {"node/n2"}


def test_alert_of_another_severity_ends_the_one_before_in_the_same_request(rig: Rig) -> None:
    rig.stage.feed(HOT)
    rig.deliver()
    rig.stage.now += NANOSECONDS
    rig.stage.feed(finding(samples.THROTTLED, gpu(1, 3), 10))
    ((new, old),) = rig.deliver()
    assert (new["labels"]["severity"], is_firing(rig, new)) == ("critical", True)
    assert (old["labels"]["severity"], is_firing(rig, old)) == ("minor", False)
    rig.end()
    rig.after(TIMING.hold)
    again = [alert for request in rig.after(TIMING.resend) for alert in request]
    assert {own["labels"]["severity"] for own in again} == {"minor", "critical"}
    assert not any(is_firing(rig, own) for own in again)


def test_refused_end_is_not_said_as_firing_for_ever(rig: Rig) -> None:
    rig.stage.feed(HOT)
    rig.deliver()
    rig.end()
    rig.receiver.answers = [(400, {})]
    rig.after(TIMING.hold)
    rig.receiver.answers = [(200, {})]
    assert rig.after(TIMING.resend) == []
    assert rig.dead == ["HTTP 400"]


def test_refused_alert_spoils_no_reminder_of_the_others(rig: Rig) -> None:
    rig.stage.feed(HOT)
    rig.deliver()
    rig.receiver.answers = [(400, {}), (200, {})]
    rig.stage.feed(finding(samples.XID_79, gpu(5, 5), 1))
    assert rig.deliver() == []
    (request,) = rig.after(TIMING.resend)
    assert [own["labels"]["gpu"] for own in request] == ["0000:03:00.0"]


def test_secret_is_the_authorization_and_is_not_logged(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AM", "Bearer hush-hush")
    hook = Webhook(name="am", url=rig.receiver.url, format="alertmanager", secret=Secret(env="AM"))
    channel = AlertmanagerChannel(hook, rig.stage.store.database)
    lost = Undelivered("c", "ops", "I", "I:1:1", 1, "HTTP 400", "k", samples.T0)
    note = Note("am", "I", "k", "alert", FORMATS["alertmanager"].undelivered(lost), samples.T0)
    assert channel.send(Row(1, note, 0, 0)).outcome == "ok"
    channel.close()
    assert rig.receiver.received[0].headers["authorization"] == "Bearer hush-hush"
    assert "hush-hush" not in caplog.text
    (alert,) = msgspec.json.decode(rig.receiver.received[0].body)
    assert alert["labels"]["alertname"] == "ForewarnDeliveryFailed"


def test_note_of_another_format_is_given_up(rig: Rig) -> None:
    note = Note("am", "I", "k", "open", b'{"specversion":"1.0"}', samples.T0)
    assert rig.channel.send(Row(1, note, 0, 0)).outcome == "permanent"


def test_requests_hold_at_most_64_kilobytes() -> None:
    alerts = [msgspec.json.encode({"labels": {"n": str(n) * 900}}) for n in range(200)]
    made = list(chunks(alerts))
    assert all(len(own) <= MAX_BYTES for own in made)
    assert sum(len(msgspec.json.decode(own)) for own in made) == 200
    assert len(made) > 1


@pytest.mark.parametrize("text", ["漏" * 100_000, "\x01" * 100_000, '"' * 100_000])
def test_alert_of_any_texts_fits_and_is_cut_between_characters(rig: Rig, text: str) -> None:
    rig.stage.feed(HOT)
    (incident,) = rig.stage.living()
    long = Text(text, text)
    cause = Hypothesis(
        "GPU-TP-01", 1, "cause", gpu(1, 3), long, 1.0, 1.0,
        first_step=Step("look", long, command=text),
    )  # fmt: skip
    huge = msgspec.structs.replace(
        incident, title=long, hypotheses=(cause,), jobs=tuple(f"{text[:1000]}{n}" for n in range(9))
    )
    body = format_.render(Telling(huge, "open", ("opened",), "k", samples.T0))
    assert len(body) <= format_.MAX_BYTES
    alert = msgspec.json.decode(body, type=format_.Alert)
    assert alert.annotations["summary"].endswith("…")
    assert alert.annotations["runbook"] == "GPU-TP-01@1"


def test_start_never_lies_behind_the_telling(rig: Rig) -> None:
    rig.stage.feed(HOT)
    (incident,) = rig.stage.living()
    early = samples.at(-5)
    body = format_.render(Telling(incident, "resolve", ("resolved",), "k", early))
    alert = msgspec.json.decode(body, type=format_.Alert)
    assert alert.starts_at == alert.ends_at == format_.rfc3339(early)


def test_delivered_notes_are_pruned_after_a_week_but_not_those_of_what_lives(rig: Rig) -> None:
    old = finding(samples.THROTTLED, gpu(2, 2), 0)
    rig.stage.feed(HOT, old)
    rig.stage.feed(closed(old, 10))
    rig.deliver()
    rig.stage.idle(1000)
    rig.after(TIMING.hold)
    live = next(own for own in rig.stage.living() if own.state == "open")
    rig.stage.now += (KEEP_SECONDS + 1) * NANOSECONDS
    assert rig.outbox.prune() > 0
    with rig.stage.store.database.read() as connection:
        kept = connection.execute(
            "SELECT DISTINCT incident FROM outbox WHERE channel = 'am'"
        ).fetchall()
    assert kept == [(live.id,)]
    assert len(rig.stage.store.incidents()) == 2
