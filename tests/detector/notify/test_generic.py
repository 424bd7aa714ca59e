import datetime as dt
from typing import get_args, get_type_hints

import msgspec
import pytest

from detector.notify.formats import FORMATS, Telling
from detector.notify.formats.generic import MAX_BYTES, render, rfc3339
from forewarn.config import Webhook
from forewarn.incident import Incident
from tests.detector import samples
from tests.detector.desk import Stage


@pytest.fixture
def incident(stage: Stage) -> Incident:
    stage.feed(
        samples.finding(samples.THROTTLED, samples.gpu(1, 3), 0),
        samples.finding(samples.NAN, samples.job(), 1, job=samples.JOB, observed=None),
    )
    return next(own for own in stage.living() if own.entity == samples.gpu(1, 3))


def telling(incident: Incident, **more: object) -> Telling:
    fields = {"kind": "open", "reasons": ("opened",), "webhook_id": "I:1:1"} | more
    return Telling(incident, notified_at_unix_nano=samples.at(2), **fields)  # type: ignore[arg-type]


def test_body_is_a_cloudevent(incident: Incident) -> None:
    event = msgspec.json.decode(render(telling(incident)))
    assert {key: event[key] for key in ("specversion", "id", "source", "type", "subject")} == {
        "specversion": "1.0",
        "id": "I:1:1",
        "source": "/cluster/c",
        "type": "io.forewarn.incident.opened",
        "subject": incident.id,
    }
    assert event["datacontenttype"] == "application/json"
    assert dt.datetime.fromisoformat(event["time"]).timestamp() == samples.at(2) / 1e9


@pytest.mark.parametrize(
    ("kind", "word"), [("open", "opened"), ("update", "updated"), ("resolve", "resolved")]
)
def test_type_says_what_is_told(incident: Incident, kind: str, word: str) -> None:
    event = msgspec.json.decode(render(telling(incident, kind=kind)))
    assert event["type"] == f"io.forewarn.incident.{word}"


def test_causes_stand_with_evidence_and_first_step_in_both_languages(incident: Incident) -> None:
    data = msgspec.json.decode(render(telling(incident)))["data"]
    first = data["top_causes"][0]
    ranked = incident.hypotheses[0]
    assert first["runbook"] == f"{ranked.entry}@{ranked.rev}"
    assert first["share"] == pytest.approx(ranked.share, abs=1e-4)
    assert all(first["title"][own] for own in ("en", "zh"))
    assert all(first["first_step"]["text"][own] for own in ("en", "zh"))
    assert first["for"][0]["findings"] == [incident.evidence[0].id]
    assert {"against", "not_collected", "drain", "status"} <= first.keys()
    assert data["incident"]["title"] == {"en": ranked.title.en, "zh": ranked.title.zh}


def test_times_can_be_measured_with(incident: Incident) -> None:
    own = msgspec.json.decode(render(telling(incident)))["data"]["incident"]
    assert own["first_evidence_at_unix_nano"] == samples.at(0)
    assert own["notified_at_unix_nano"] == samples.at(2)
    assert own["detected_at"] == rfc3339(own["detected_at_unix_nano"])
    assert own["resolved_at"] is None


def test_nanoseconds_are_written_whole() -> None:
    assert rfc3339(1_700_000_000_000_000_001) == "2023-11-14T22:13:20.000000001Z"


def test_evidence_is_cut_to_fit_and_that_is_said(incident: Incident) -> None:
    one = msgspec.structs.replace(incident.evidence[0], text="é" * 900)
    many = msgspec.structs.replace(incident, evidence=(one,) * 1000)
    body = render(telling(many))
    data = msgspec.json.decode(body)["data"]
    assert len(body) <= MAX_BYTES
    assert 0 < len(data["evidence"]) < 1000
    assert len(data["evidence"]) + data["evidence_left_out"] == 1000


@pytest.mark.parametrize("name", FORMATS)
def test_format_gives_the_same_bytes_each_time(incident: Incident, name: str) -> None:
    assert FORMATS[name].telling(telling(incident)) == FORMATS[name].telling(telling(incident))


def test_every_format_of_the_settings_is_in_the_table() -> None:
    assert set(get_args(get_type_hints(Webhook)["format"])) == FORMATS.keys()
