import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from detector.incidents.server import serve
from forewarn.errors import ConfigError
from tests.detector import samples
from tests.detector.desk import Stage
from tests.detector.samples import finding, gpu

ENTRY = "GPU-CORE-01"


@pytest.fixture
def client(stage: Stage) -> Iterator[httpx.Client]:
    stage.feed(finding(samples.XID_79, gpu(1, 3), 0), finding(samples.HOT, gpu(2, 0), 5))
    with (
        serve(stage.decide, stage.store, stage.registry, "127.0.0.1:0") as base,
        httpx.Client(base_url=base, trust_env=False) as client,
    ):
        yield client


def ids(client: httpx.Client, **query: Any) -> list[str]:
    return [own["id"] for own in client.get("/incidents", params=query).json()]


@pytest.fixture
def xid(stage: Stage, client: httpx.Client) -> str:
    return next(own.id for own in stage.living() if own.entity == gpu(1, 3))


def test_incidents_are_listed_and_filtered(client: httpx.Client, xid: str) -> None:
    assert len(ids(client)) == 2
    assert ids(client, entity="node/n1") == [xid]
    assert ids(client, entity=gpu(1, 3), state="open") == [xid]
    assert ids(client, state="resolved") == []
    assert ids(client, since=samples.at(60)) == []
    assert len(ids(client, limit=1)) == 1


def test_unknown_filter_is_explained(client: httpx.Client) -> None:
    answer = client.get("/incidents", params={"colour": "red"})
    assert answer.status_code == 400
    assert "colour" in answer.json()["error"]
    assert "state, entity" in answer.json()["fix"]


@pytest.mark.parametrize("since", [10**30, -1, "yesterday"])
def test_a_time_that_is_none_is_explained(client: httpx.Client, since: object) -> None:
    answer = client.get("/incidents", params={"since": str(since)})
    assert answer.status_code == 400
    assert "$.since" in answer.json()["error"]


def test_incident_is_found_by_a_prefix_in_any_case(client: httpx.Client, xid: str) -> None:
    assert client.get(f"/incidents/{xid[:15].lower()}").json()["id"] == xid


def test_ambiguous_prefix_and_unknown_id_are_explained(client: httpx.Client, xid: str) -> None:
    many = client.get(f"/incidents/{xid[:3]}")
    assert (many.status_code, "several incidents" in many.json()["error"]) == (409, True)
    none = client.get("/incidents/ZZZ")
    assert (none.status_code, none.json()["fix"]) == (404, "see GET /incidents")


def test_unknown_page_answers_in_json(client: httpx.Client) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert answer.json()["error"] == "Not Found"


def test_acknowledge_and_resolve_are_kept(client: httpx.Client, stage: Stage, xid: str) -> None:
    answer = client.post(f"/incidents/{xid}/acknowledge", json={"by": "li"})
    assert (answer.status_code, answer.json()["state"]) == (200, "acknowledged")
    answer = client.post(f"/incidents/{xid}/resolve", json={"by": "li", "note": "swapped"})
    assert answer.json()["state"] == "resolved"
    kept = stage.store.get(xid)
    assert kept is not None
    assert [(own.what, own.by) for own in kept.timeline if own.by] == [
        ("acknowledged", "li"),
        ("resolved", "li"),
    ]


def test_impossible_action_is_explained(client: httpx.Client, xid: str) -> None:
    client.post(f"/incidents/{xid}/resolve", json={"by": "li"})
    answer = client.post(f"/incidents/{xid}/acknowledge", json={"by": "li"})
    assert answer.status_code == 409
    assert "is resolved: it cannot become acknowledged" in answer.json()["error"]


def test_confirmed_cause_is_counted_and_shown_in_the_next_ranking(
    client: httpx.Client, stage: Stage, xid: str
) -> None:
    said = {"entry": ENTRY, "proof": "rma", "by": "li", "note": "card replaced"}
    own = client.post(f"/incidents/{xid}/confirm", json=said).json()
    assert own["hypotheses"][0]["status"] == "confirmed"
    assert own["feedback"][0]["proof"] == "rma"
    assert own["hypotheses"][0]["counts"] == [1, 0]
    stage.feed(finding(samples.XID_79, gpu(5, 5), 100))
    (later,) = (own for own in stage.living() if own.entity == gpu(5, 5))
    first = later.hypotheses[0]
    assert (first.entry, first.counts) == (ENTRY, (1, 0))
    with stage.store.database.read() as connection:
        kept = connection.execute(
            "SELECT confirmed FROM rankings WHERE incident = ? AND place = 0", (later.id,)
        ).fetchone()
    assert kept == (1,)


def test_counts_are_kept_apart_by_hardware(client: httpx.Client, stage: Stage, xid: str) -> None:
    client.post(f"/incidents/{xid}/refute", json={"entry": ENTRY, "by": "li"})
    with stage.store.database.read() as connection:
        rows = connection.execute(
            "SELECT hardware, matched, confirmed, refuted FROM counts WHERE entry = ?", (ENTRY,)
        ).fetchall()
    assert rows == [("H100", 1, 0, 1)]


def test_confirmation_without_a_proof_is_refused(client: httpx.Client, xid: str) -> None:
    answer = client.post(f"/incidents/{xid}/confirm", json={"entry": ENTRY, "by": "li"})
    assert answer.status_code == 409
    assert "diagnostic, rma, config_diff, replay, expert_opinion" in answer.json()["error"]


def test_judgement_on_a_cause_that_is_not_ranked_needs_its_revision(
    client: httpx.Client, xid: str
) -> None:
    said: dict[str, Any] = {"entry": "FAC-01", "proof": "rma", "by": "li"}
    assert client.post(f"/incidents/{xid}/confirm", json=said).status_code == 409
    answer = client.post(f"/incidents/{xid}/confirm", json={**said, "rev": 1})
    assert answer.status_code == 200


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"by": 3}', b'{"who": "li"}', b""])
def test_body_that_is_wrong_is_explained(client: httpx.Client, xid: str, body: bytes) -> None:
    answer = client.post(
        f"/incidents/{xid}/acknowledge", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
    assert answer.json()["fix"] == "fields: by, note"


def test_body_that_is_too_large_is_refused(client: httpx.Client, xid: str) -> None:
    answer = client.post(f"/incidents/{xid}/acknowledge", json={"by": "x" * 70_000})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"origin": "own", "content-type": "application/json; charset=utf-8"}, 200),
        ({"host": "localhost:9469"}, 200),
    ],
)
def test_post_that_a_web_page_could_cause_is_refused(
    client: httpx.Client, stage: Stage, xid: str, headers: dict[str, str], status: int
) -> None:
    sent = {"content-type": "application/json", **headers}
    if sent.get("origin") == "own":
        sent["origin"] = str(client.base_url).rstrip("/")
    answer = client.post(
        f"/incidents/{xid}/acknowledge", content=json.dumps({"by": "li"}), headers=sent
    )
    assert answer.status_code == status
    kept = stage.store.get(xid)
    assert kept is not None
    assert (kept.state == "acknowledged") == (status == 200)


def test_incidents_are_not_shown_under_another_name(client: httpx.Client, xid: str) -> None:
    for path in ("/incidents", f"/incidents/{xid}"):
        assert client.get(path, headers={"host": "evil.example"}).status_code == 403


def test_unknown_action_is_explained(client: httpx.Client, xid: str) -> None:
    answer = client.post(f"/incidents/{xid}/delete", json={"by": "li"})
    assert answer.status_code == 404
    assert answer.json()["fix"] == "acknowledge, resolve, confirm, refute"


def test_server_listens_where_told_and_shows_metrics(stage: Stage) -> None:
    with serve(stage.decide, stage.store, stage.registry, "127.0.0.1:0") as base:
        host, port = base.removeprefix("http://").split(":")
        with contextlib.closing(http.client.HTTPConnection(host, int(port))) as connection:
            for path, word in (("/metrics", b"forewarn_incidents_open"), ("/-/ready", b"ok"),
                               ("/-/healthy", b"ok")):  # fmt: skip
                connection.request("GET", path)
                answer = connection.getresponse()
                assert (answer.status, word in answer.read()) == (200, True)
        with (
            pytest.raises(ConfigError, match=r"decide.listen: .*in use"),
            serve(stage.decide, stage.store, stage.registry, f"127.0.0.1:{port}"),
        ):
            pass
