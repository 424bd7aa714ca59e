"""A run is held against earlier runs of the same job, and against other jobs like it."""

import numpy as np
import pytest

from detector.families.former import Former
from detector.families.pace import Rule, Trend
from detector.families.progress import Progress
from detector.verdict.ledger import Ledger
from forewarn.inventory import Inventory
from forewarn.records import Finding, InventoryItem, Placement

TOKENS = 4e6


def inventory(*jobs: str, ranks: int = 4, parameters: str = "7000000000") -> Inventory:
    own = Inventory()
    for node, job in enumerate(jobs):
        for rank in range(ranks):
            gpu = f"node/n{node}/gpu/{rank}"
            own.apply(InventoryItem("c", gpu, 0, {"model": "H100"}))
            placement = Placement(job, rank, f"n{node}", (gpu,))
            own.apply(InventoryItem("c", f"job/{job}/rank/{rank}", 0, {"parameters": parameters},
                                    placement=placement))  # fmt: skip
    return own


class Cluster:
    """Jobs that report steps, each run at its own pace."""

    def __init__(self, *jobs: str, **kinds: str) -> None:
        self.progress = Progress("c", Ledger(), inventory(*jobs, **kinds))
        self.random, self.now = np.random.default_rng(2), 1000.0

    def run(self, job: str, seconds: float = 2.0, steps: int = 60, tokens: float = TOKENS,
            mfu: float = 0.4) -> list[Finding]:  # fmt: skip
        found: list[Finding] = []
        for _ in range(steps):
            self.now += seconds
            own = seconds * (1 + 0.01 * self.random.normal())
            values = {"job_step_seconds": own, "job_tokens_per_step": tokens,
                      "job_mfu_ratio": mfu * seconds / own}  # fmt: skip
            found += self.progress.on_values(f"job/{job}", values, self.now)
        return found

    def state(self, job: str, state: str) -> list[Finding]:
        return self.progress.on_state(f"job/{job}", state, self.now)


def test_run_that_is_slow_from_its_first_step_is_told_against_the_run_before():
    own = Cluster("a")
    own.run("a")
    own.state("a", "restarted")
    (found,) = [f for f in own.run("a", 2.4) if f.seq == 1 and f.signal == "job_step_seconds"]
    assert found.movement == "step_up"
    assert found.expected == pytest.approx(2.0, rel=0.02)
    assert found.effect >= 1
    assert "run before" in found.text


def test_run_at_the_same_pace_is_normal():
    own = Cluster("a")
    own.run("a")
    own.state("a", "restarted")
    assert own.run("a", 2.08) == []


def test_other_sequence_length_is_not_compared():
    own = Cluster("a")
    own.run("a")
    own.state("a", "restarted")
    assert own.run("a", 4.0, tokens=2 * TOKENS) == []


def test_slow_run_that_recovers_closes_its_finding():
    own = Cluster("a")
    own.run("a")
    own.state("a", "restarted")
    own.run("a", 2.4)
    found = own.run("a", 2.0, steps=80)
    assert [f.signal for f in found if f.closed_at_unix_nano] == ["job_step_seconds"]


def test_new_pace_is_no_news_after_hours():
    own = Cluster("a")
    own.run("a", 200.0)
    own.state("a", "restarted")
    found = own.run("a", 240.0, steps=200)
    assert [f for f in found if f.seq == 1]
    assert [f.closed_at_unix_nano for f in found][-1] is not None


def test_new_job_is_held_against_two_of_its_like():
    own = Cluster("a", "b", "c")
    for job in ("a", "b"):
        own.run(job)
        own.state(job, "completed")
    (found,) = [f for f in own.run("c", mfu=0.25) if f.seq == 1]
    assert (found.signal, found.movement) == ("job_mfu_ratio", "step_down")
    assert "other jobs" in found.text


@pytest.mark.parametrize("parameters", ["", "70000000000"])
def test_jobs_of_other_model_sizes_are_not_compared(parameters):
    own = Cluster("a", "b", "c", parameters="")
    own.progress._inventory.apply(
        InventoryItem("c", "job/c/rank/0", 1, {"parameters": parameters},
                      placement=Placement("c", 0, "n2", ("node/n2/gpu/0",)))
    )  # fmt: skip
    for job in ("a", "b"):
        own.run(job)
        own.state(job, "completed")
    assert own.run("c", mfu=0.25) == []


def test_what_is_kept_is_bounded():
    own, trend = Former(), Trend(Rule("step_up", 1.1, power=1.0))
    for _ in range(20):
        trend.push(2.0, TOKENS)
    for number in range(5000):
        own.keep((("job", str(number), "8"),), {"job_step_seconds": trend})
    assert own.expect((("job", "0", "8"),), "job_step_seconds", trend) is None
    assert own.expect((("job", "4999", "8"),), "job_step_seconds", trend) is not None
