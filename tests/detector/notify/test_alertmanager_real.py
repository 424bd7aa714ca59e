"""Forewarn against Debian's Alertmanager: what it makes of our alerts, and what it tells others."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from detector.incidents.actions import resolve
from detector.notify.alertmanager import Timing
from detector.notify.outbox import Outbox
from detector.notify.post import Post
from forewarn.config import Settings, Webhook
from forewarn.deadletter import DeadLetters
from forewarn.incident import Incident
from tests.detector import samples
from tests.detector.alerting import Alertmanager, Message, alerting, wait_until
from tests.detector.desk import Stage
from tests.detector.receiver import Receiver, receiving

# A tenth of a second and more: Alertmanager of the test groups for 0.3 s.
QUICK = Timing(resend=0.5, resolved=5.0, hold=1.5)
HOT = samples.finding(samples.HOT, samples.gpu(1, 3), 0)


class Line:
    """Decide with its channels, and the Alertmanager that it tells, and who that tells."""

    def __init__(self, folder: Path, urls: list[str], receiver: Receiver) -> None:
        hooks = tuple(
            Webhook(name=f"am-{number}", url=url, format="alertmanager", min_severity="minor")
            for number, url in enumerate(urls)
        )
        settings = Settings(cluster="c", webhook=hooks)
        self.receiver = receiver
        self.stage = Stage(folder / "decide.sqlite", settings, samples.inventory())
        self.stage.now = time.time_ns()  # what is told has an age, and a day is the oldest
        producer, registry = self.stage.bus.producer(), CollectorRegistry()
        dead = DeadLetters(producer, "decide", registry)
        self.post = Post(
            settings, Outbox(self.stage.store.database), producer, registry, dead, timing=QUICK
        )

    def end(self) -> Incident:
        """A person calls the one incident over."""
        (own,) = self.stage.living()
        return self.stage.decide.act(own.id, resolve("ann"))

    def told(self) -> list[Message]:
        """Return what Alertmanager has told and was accepted."""
        return [msgspec.json.decode(own.body, type=Message) for own in self.receiver.accepted()]

    def has_told(self, status: str) -> bool:
        return any(own.status == status for own in self.told())


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as own:
        yield own


@pytest.fixture
def manager(tmp_path: Path, receiver: Receiver) -> Iterator[Alertmanager]:
    with alerting(tmp_path / "am", receiver.url) as own:
        yield own


@contextlib.contextmanager
def telling(folder: Path, urls: list[str], receiver: Receiver) -> Iterator[Line]:
    line = Line(folder, urls, receiver)
    try:
        with line.post:
            yield line
    finally:
        line.stage.close()


@pytest.fixture
def line(tmp_path: Path, manager: Alertmanager, receiver: Receiver) -> Iterator[Line]:
    with telling(tmp_path, [manager.url], receiver) as own:
        yield own


def test_incident_opens_changes_and_ends_there(line: Line, manager: Alertmanager) -> None:
    manager.start()
    line.stage.feed(HOT)
    wait_until(manager.alerts)
    (alert,) = manager.alerts()
    (incident,) = line.stage.living()
    assert alert["labels"]["incident_id"] == incident.id
    assert alert["labels"]["node"] == "n1"
    assert alert["annotations"]["summary_zh"] == incident.title.zh
    assert incident.id in manager.amtool(
        "alert", "query", f"incident_id={incident.id}", "-o", "json"
    )
    wait_until(lambda: line.has_told("firing"))

    line.stage.feed(samples.finding(samples.THROTTLED, samples.gpu(1, 3), 10))
    wait_until(lambda: [own["labels"]["severity"] for own in manager.alerts()] == ["critical"])
    (alert,) = manager.alerts()
    assert alert["annotations"]["runbook"].startswith("GPU-TP-")
    assert alert["annotations"]["first_step_zh"]

    line.end()
    wait_until(lambda: not manager.alerts())
    wait_until(lambda: line.told()[-1].status == "resolved")
    assert {own["labels"]["incident_id"] for m in line.told() for own in m.alerts} == {incident.id}


def test_alerts_come_back_after_alertmanager_has_forgotten_them(
    line: Line, manager: Alertmanager
) -> None:
    manager.start()
    line.stage.feed(HOT)
    wait_until(manager.alerts)
    before = manager.alerts()[0]["fingerprint"]
    manager.stop()
    manager.start()
    wait_until(manager.alerts)
    assert [own["fingerprint"] for own in manager.alerts()] == [before]


def test_alert_outlives_its_lifetime_while_the_incident_lasts(
    line: Line, manager: Alertmanager
) -> None:
    manager.start()
    line.stage.feed(HOT)
    wait_until(manager.alerts)
    first = manager.alerts()[0]["endsAt"]
    wait_until(lambda: manager.alerts()[0]["endsAt"] > first)
    wait_until(lambda: manager.alerts()[0]["updatedAt"] > first)  # past the first end
    assert len(manager.alerts()) == 1


def test_incident_that_opened_and_ended_while_alertmanager_was_down_is_told(
    line: Line, manager: Alertmanager
) -> None:
    line.stage.feed(HOT)
    line.end()
    manager.start()
    wait_until(lambda: line.has_told("resolved"))
    assert [own.status for own in line.told()] == ["firing", "resolved"]


def test_receiver_of_alertmanager_that_was_down_for_less_than_the_hold_is_told(
    line: Line, manager: Alertmanager
) -> None:
    line.receiver.answers = [(503, {}), (204, {})]
    manager.start()
    line.stage.feed(HOT)
    line.end()
    wait_until(lambda: line.has_told("resolved"))
    assert [own.status for own in line.told()] == ["firing", "resolved"]


def test_alert_ends_by_itself_when_nobody_says_it_any_more(
    tmp_path: Path, manager: Alertmanager, receiver: Receiver
) -> None:
    manager.start()
    with telling(tmp_path, [manager.url], receiver) as line:
        line.stage.feed(HOT)
        wait_until(manager.alerts)
    wait_until(lambda: not manager.alerts())
    with telling(tmp_path, [manager.url], receiver):  # a decide that was restarted
        wait_until(manager.alerts)


def test_every_peer_is_told_and_one_that_is_down_holds_up_no_other(
    tmp_path: Path, receiver: Receiver
) -> None:
    with (
        alerting(tmp_path / "one", receiver.url) as one,
        alerting(tmp_path / "two", receiver.url) as two,
        telling(tmp_path, [one.url, two.url], receiver) as line,
    ):
        two.start()
        line.stage.feed(HOT)
        wait_until(two.alerts)
        one.start()
        wait_until(one.alerts)
        assert one.alerts()[0]["fingerprint"] == two.alerts()[0]["fingerprint"]
