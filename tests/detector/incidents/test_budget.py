"""The one knob at the level of incidents: as many open as it says, and what is sure always does."""

import msgspec
import numpy as np
import pytest

from detector.incidents.actions import Judgement, confirm
from detector.incidents.budget import SURE, threshold, would_open
from detector.incidents.charges import ChargeStore
from forewarn.balance import poisson_interval
from forewarn.config import Detect, Settings
from forewarn.records import Finding
from tests.detector import samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.samples import at, finding, gpu

HOUR, DAY = 3600, 86_400
SETTINGS = Settings(cluster="c", detect=Detect(budget=1.0))


def priced(per_day: float | None, node: int = 1, seconds: float = 0) -> Finding:
    return finding(samples.HOT, gpu(node, 0), seconds, learned=True, per_day=per_day)


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    return make_stage(settings=SETTINGS)


@pytest.mark.parametrize("budget", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("seed", range(3))
def test_as_many_open_as_the_budget_says(budget: float, seed: int) -> None:
    """Prices claim a third of what they are: the rank among 40 charges a day does not mind."""
    random, days = np.random.default_rng(seed), 60
    times = np.sort(random.uniform(0, days, 40 * days))
    prices: list[float] = []
    opened = 0
    for time, price in zip(times, random.uniform(0, 13, len(times)), strict=True):
        opened += int(price <= threshold(sorted(prices), budget, time, opened))
        prices.append(price)
    low, high = poisson_interval(budget * days)
    assert low / 1.5 <= opened <= high * 1.5


def test_more_budget_never_opens_less() -> None:
    prices = sorted(np.random.default_rng(1).exponential(1.0, 200).tolist())
    allowed = [threshold(prices, budget, 10.0, 10) for budget in (0.1, 0.25, 1, 4, 30)]
    assert allowed == sorted(allowed)
    assert threshold([], 1.0, 0.0, 0) > 0


def test_too_frequent_finding_is_held_back_and_charged(stage: Stage) -> None:
    stage.feed(priced(5.0))
    assert stage.living() == []
    (charge,) = ChargeStore(stage.store.database).since(0)
    assert (charge.per_day, charge.incident, charge.place) == (5.0, "", "node/n1")


def test_held_back_finding_opens_once_it_is_rare_enough(stage: Stage) -> None:
    first = priced(5.0)
    stage.feed(first)
    stage.feed(msgspec.structs.replace(first, seq=2, updated_at_unix_nano=at(60), per_day=1e-3))
    (incident,) = stage.living()
    (charge,) = ChargeStore(stage.store.database).since(0)
    assert (charge.per_day, charge.incident) == (1e-3, incident.id)


@pytest.mark.parametrize("per_day", [None, SURE / 2])
def test_unknown_and_sure_prices_always_open(stage: Stage, per_day: float | None) -> None:
    stage.feed(*(priced(per_day, node) for node in range(1, 4)))
    assert sum(len(own.affected) for own in stage.living()) == 3


def test_rules_are_outside(stage: Stage) -> None:
    stage.feed(finding(samples.XID_79, gpu(1, 3), 0))
    assert len(stage.living()) == 1
    assert ChargeStore(stage.store.database).since(0) == []


def test_held_back_finding_joins_an_incident_of_its_device(stage: Stage) -> None:
    stage.feed(finding(samples.XID_79, gpu(1, 0), 0))
    stage.feed(priced(5.0, seconds=30))
    (incident,) = stage.living()
    assert [own.per_day for own in incident.evidence] == [None, 5.0]


def test_restarted_decide_knows_what_was_spent(make_stage: MakeStage) -> None:
    first = make_stage(settings=SETTINGS)
    first.feed(*(priced(0.02, node, node * HOUR) for node in range(1, 8)))
    assert first.living()
    held = first.decide._account.allowed(at(DAY))
    first.close()
    again = make_stage(settings=SETTINGS)
    assert again.decide._account.allowed(at(DAY)) == held


def test_confirmed_incident_competes_no_more(stage: Stage) -> None:
    stage.feed(priced(0.02))
    (incident,) = stage.living()
    own = incident.hypotheses[0]
    before = len(ChargeStore(stage.store.database).competing())
    judged = Judgement(entry=own.entry, by="ann", proof="diagnostic")
    stage.decide.act(incident.id, confirm(judged))
    assert (before, ChargeStore(stage.store.database).competing()) == (1, [])


def test_other_budgets_would_open_more_or_less(stage: Stage) -> None:
    stage.feed(*(priced(0.02 * node, node, node * 2 * HOUR) for node in range(1, 8)))
    charges = ChargeStore(stage.store.database).since(0)
    counts = [would_open(charges, budget, 1.0) for budget in (0.1, 1.0, 10.0)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
