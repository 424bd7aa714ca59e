import contextlib
import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from standardwebhooks.webhooks import Webhook as StandardWebhook

from detector import decide
from detector.incidents.database import StoreError
from detector.incidents.store import Store
from detector.notify.outbox import Outbox
from detector.notify.post import Post
from forewarn import wire
from forewarn.bus import Message
from forewarn.config import Decide, Secret, Settings, Webhook
from forewarn.deadletter import DeadLetters
from forewarn.memory import MemoryBus
from forewarn.records import Event
from tests.detector import samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.receiver import receiving

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


def test_findings_reach_a_real_webhook_as_one_signed_incident(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    bus, stop, registry = MemoryBus(), threading.Event(), CollectorRegistry()
    with receiving() as receiver:
        hook = Webhook(name="ops", url=receiver.url, secret=Secret(env="HOOK_SECRET"))
        settings = Settings(
            cluster="c",
            decide=Decide(listen="127.0.0.1:0", database=str(tmp_path / "decide.sqlite")),
            webhook=(hook,),
        )
        stage = threading.Thread(target=decide.run, args=(bus, settings, stop, registry))
        put = bus.producer().publish
        for item in samples.inventory():
            put("inventory", item.entity, wire.encode_inventory(item))
        stage.start()
        try:
            own = samples.finding(samples.XID_79, samples.gpu(1, 3), 0)
            put("findings", own.entity, wire.encode_finding(own))
            received = receiver.wait_for(1)
        finally:
            stop.set()
            stage.join(10)
    assert not stage.is_alive()
    (request,) = received
    StandardWebhook(SECRET).verify(request.body, request.headers)
    event = msgspec.json.decode(request.body)
    assert event["type"] == "io.forewarn.incident.opened"
    assert event["id"] == request.headers["webhook-id"]
    assert event["data"]["incident"]["entity"] == own.entity
    assert event["data"]["top_causes"][0]["runbook"].startswith("GPU-CORE-01@")
    assert event["data"]["top_causes"][0]["drain"] == "now"
    consumer = bus.consumer(("incidents",), None, from_beginning=("incidents",))
    (told,) = consumer.poll(0.0)
    assert told.key == event["subject"]
    assert dict(told.headers)["ce_id"].decode() == event["id"]


def test_stage_stops_while_a_receiver_is_silent(tmp_path: Path) -> None:
    bus, stop = MemoryBus(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hook = Webhook(name="ops", url=f"http://127.0.0.1:{silent.getsockname()[1]}/")
        settings = Settings(
            decide=Decide(listen="127.0.0.1:0", database=str(tmp_path / "decide.sqlite")),
            webhook=(msgspec.structs.replace(hook, timeout_seconds=60),),
        )
        args = (bus, settings, stop, CollectorRegistry())
        stage = threading.Thread(target=decide.run, args=args)
        stage.start()
        own = samples.finding(samples.XID_79, samples.gpu(1, 3), 0)
        bus.producer().publish("findings", own.entity, wire.encode_finding(own))
        attempt, _ = silent.accept()
        stop.set()
        stage.join(30)  # well under the 60 s of the attempt; the goal is 5
        attempt.close()
    assert not stage.is_alive()
    store = Store(tmp_path / "decide.sqlite")
    assert Outbox(store.database).pending() == {"ops": 1}
    store.close()


def everything(stage: Stage) -> list[tuple[object, ...]]:
    """Return what is kept of a stage, times of telling left out."""
    with stage.store.database.read() as connection:
        return [
            *((own, own.seq) for own in stage.store.incidents()),
            *connection.execute("SELECT channel, webhook_id, kind, state FROM outbox ORDER BY id"),
            *stage.store.offsets().items(),
        ]


STORY = (
    samples.finding(samples.STEP_UP, samples.job(), 0, job=samples.JOB),
    samples.finding(samples.THROTTLED, samples.gpu(1, 3), 30),
    samples.finding(samples.XID_79, samples.gpu(2, 0), 31),
)


def test_step_that_breaks_anywhere_has_not_happened(make_stage: MakeStage, tmp_path: Path) -> None:
    hook = Webhook(name="ops", url="http://127.0.0.1:1/")
    settings = Settings(cluster="c", webhook=(hook,))
    whole = Stage(tmp_path / "whole.sqlite", settings, samples.inventory())
    whole.feed(*STORY)
    wanted = everything(whole)
    whole.close()
    stage = make_stage(settings=settings)
    before = everything(stage)
    broken = 0
    for opcodes in (1, 3, 10, 30, 100, 300, 1000, 3000):
        left = [opcodes]

        def interrupt(left: list[int] = left) -> int:
            left[0] -= 1
            return int(left[0] == 0)  # once: what undoes the step is let through

        with stage.store.database.read() as connection:
            connection.set_progress_handler(interrupt, 1)
        with contextlib.suppress(StoreError):
            stage.feed(*STORY)
            break
        broken += 1
        with stage.store.database.read() as connection:
            connection.set_progress_handler(None, 1)
        assert everything(stage) == before
    assert broken >= 5
    with stage.store.database.read() as connection:
        connection.set_progress_handler(None, 1)
    stage.rewind()
    stage.feed(*STORY)
    assert everything(stage) == wanted


def test_same_findings_again_change_nothing(stage: Stage) -> None:
    stage.feed(*STORY)
    kept = everything(stage)
    stage.rewind()
    assert stage.feed(*STORY) == []
    assert everything(stage) == kept


def test_replay_in_other_batches_makes_the_same_ids(make_stage: MakeStage, tmp_path: Path) -> None:
    one = make_stage()
    one.feed(*STORY)
    other = Stage(tmp_path / "other.sqlite", items=samples.inventory())
    other.feed_one_by_one(STORY)
    assert {own.id for own in one.living()} == {own.id for own in other.living()}
    other.close()


def test_undecodable_finding_is_a_dead_letter_and_the_rest_goes_on(stage: Stage) -> None:
    good = samples.message(STORY[2], 1)
    cut = Message("findings", "x", good.value[:20], 0, 0, samples.T0)
    (incident,) = stage.decide.step([cut, good])
    assert incident.entity == samples.gpu(2, 0)
    assert stage.registry.get_sample_value("forewarn_dead_letters_total", {"reason": "truncated"})
    (letter,) = stage.bus.consumer(("deadletter",), None, from_beginning=("deadletter",)).poll(0)
    assert wire.decode_deadletter(letter.value).payload == good.value[:20]
    assert stage.store.offsets()["findings", 0] == 2


def test_restart_goes_on_with_what_was_open(make_stage: MakeStage) -> None:
    first = make_stage()
    first.feed(STORY[1])
    (before,) = first.living()
    first.close()
    second = make_stage()
    second.feed(samples.finding(samples.CLOCK_DOWN, samples.gpu(1, 3), 40))
    (after,) = second.living()
    assert (after.id, len(after.evidence)) == (before.id, 2)
    assert second.store.offsets()["findings", 0] == 1


def test_incident_resolves_when_its_findings_have_been_closed_for_long(stage: Stage) -> None:
    own = STORY[1]
    stage.feed(own)
    stage.feed(samples.closed(own, 100))
    assert stage.living()[0].state == "mitigated"
    stage.idle(399)
    assert stage.living()[0].state == "mitigated"
    stage.idle(400)
    assert stage.living()[0].state == "resolved"
    stage.idle(400 + 86400)
    assert stage.living()[0].state == "closed"


def test_fault_that_comes_back_is_the_next_generation(stage: Stage) -> None:
    own = STORY[1]
    stage.feed(own, samples.closed(own, 100))
    stage.idle(500)
    stage.feed(samples.finding(samples.THROTTLED, samples.gpu(1, 3), 600))
    one, two = stage.living()
    assert (one.key, one.generation, one.state) == (two.key, 1, "resolved")
    assert (two.generation, two.state) == (2, "open")
    assert one.id != two.id
    assert two.timeline[0].what == "reopened"


def test_end_of_the_job_ends_its_own_incident_but_not_the_hardware(stage: Stage) -> None:
    stage.feed(samples.finding(samples.NAN, samples.job(), 0, job=samples.JOB), STORY[2])
    event = Event("c", samples.job(), "job.state:FAILED", samples.at(50), "major", "")
    stage.decide.step([Message("events", "n0", wire.encode_event(event), 0, 0, samples.at(50))])
    states = {own.entity: own.state for own in stage.living()}
    assert states == {samples.job(): "mitigated", samples.gpu(2, 0): "open"}


def test_metrics_pass_promtool(stage: Stage) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        if os.environ.get("CI") == "true":
            pytest.fail("promtool is not installed")
        pytest.skip("promtool is not installed")
    producer = stage.bus.producer()
    dead = DeadLetters(producer, "decide", CollectorRegistry())
    Post(Settings(), Outbox(stage.store.database), producer, stage.registry, dead)
    stage.feed(*STORY)
    text = generate_latest(stage.registry)
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert b'forewarn_incidents_open{severity="critical"} 2.0' in text
    assert b"forewarn_findings_joined_total 3.0" in text
    assert b'forewarn_outbox_pending{channel="incidents"}' in text


def test_finding_that_a_restarted_detector_begins_anew_ends_the_old_one(stage: Stage) -> None:
    stage.feed(samples.finding(samples.HOT, samples.gpu(1, 3), 0))
    anew = samples.finding(samples.HOT, samples.gpu(1, 3), 500)
    stage.feed(anew)
    (incident,) = stage.living()
    assert [own.closed_at_unix_nano for own in incident.evidence] == [samples.at(500), None]
    stage.feed(samples.closed(anew, 600))
    assert stage.living()[0].state == "mitigated"
