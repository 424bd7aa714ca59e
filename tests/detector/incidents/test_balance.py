"""The balance: what was promised, what opened, and what people said of it."""

from pathlib import Path

import httpx
import msgspec
import pytest

from detector.incidents.actions import Judgement, confirm, refute
from detector.incidents.balance import BudgetQuery, balance
from detector.incidents.server import serve
from forewarn.balance import Balance
from forewarn.config import Detect, Settings
from tests.detector import samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.samples import at, finding, gpu

DAY = 86_400
QUERY = BudgetQuery(days=30, until=at(10 * DAY))


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    """Three learned incidents of which one is confirmed and one refuted; a rule; one held back."""
    own = make_stage(settings=Settings(cluster="c", detect=Detect(budget=1.0)))
    for node, per_day in ((1, 1e-3), (2, 1e-3), (3, 1e-3), (4, 9.0)):
        own.feed(finding(samples.HOT, gpu(node, 0), node * 20_000, learned=True, per_day=per_day))
    own.feed(finding(samples.XID_79, gpu(6, 3), 200_000))
    for number, act in ((0, confirm), (1, refute)):
        incident = own.living()[number]
        judged = Judgement(entry=incident.hypotheses[0].entry, by="ann", proof="diagnostic")
        own.decide.act(incident.id, act(judged))
    return own


def test_balance_counts_what_opened_and_what_was_said(stage: Stage) -> None:
    own = balance(stage.store, 1.0, QUERY)
    counts = (own.opened, own.confirmed, own.refuted, own.unreviewed, own.held_back, own.by_rules)
    assert counts == (3, 1, 1, 1, 1, 1)
    assert own.actual == (1, 2)
    assert own.days == pytest.approx(10 - 20_000 / DAY)
    assert own.promised_low < own.promised == own.days < own.promised_high


def test_each_of_many_that_open_at_one_place_at_once_is_counted(make_stage: MakeStage) -> None:
    """Before prices are known all may open; what opens by a learned finding is nobody's rule."""
    stage = make_stage(settings=Settings(cluster="c", detect=Detect(budget=1.0)))
    waits = {"signal": "switch_port_tx_wait_ticks_total", "movement": "step_up", "family": "band"}
    ports = [f"switch/leaf2/port/{number}" for number in (33, 35, 37)]
    stage.feed(*(finding(waits, port, 60, learned=True, per_day=None) for port in ports))
    own = balance(stage.store, 1.0, QUERY)
    assert (own.opened, own.by_rules) == (len(stage.living()), 0)
    assert own.opened > 1


def test_window_leaves_out_what_was_before(stage: Stage) -> None:
    own = balance(stage.store, 1.0, BudgetQuery(days=1, until=at(50 * DAY)))
    assert (own.opened, own.by_rules, own.held_back, own.days) == (0, 0, 0, 1)


def test_other_numbers_are_told(stage: Stage) -> None:
    others = balance(stage.store, 1.0, QUERY).others
    assert [own.budget for own in others] == [0.25, 0.5, 2, 4]
    assert [own.would_open for own in others] == sorted(own.would_open for own in others)


def test_empty_database_promises_for_the_window(tmp_path: Path, make_stage: MakeStage) -> None:
    own = balance(make_stage().store, 1.0, QUERY)
    assert (own.opened, own.promised, own.days) == (0, 30, 30)


def test_interface_gives_the_balance(stage: Stage) -> None:
    with (
        serve(stage.decide, stage.store, stage.registry, "127.0.0.1:0") as base,
        httpx.Client(base_url=base, trust_env=False) as client,
    ):
        body = client.get("/budget", params={"days": 30, "until": QUERY.until}).content
        wrong = client.get("/budget", params={"days": -1, "until": QUERY.until})
    assert msgspec.json.decode(body, type=Balance) == balance(stage.store, 1.0, QUERY)
    assert wrong.status_code == 400
    assert "days" in wrong.json()["error"]
