import threading
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry
from standardwebhooks.webhooks import Webhook as StandardWebhook

from detector import decide
from forewarn import wire
from forewarn.config import Decide, Secret, Settings, Webhook
from forewarn.memory import MemoryBus
from tests.detector import samples
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
