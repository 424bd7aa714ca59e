"""Who is named among twins, and who is not: ranks step by step, devices with their offsets."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from forewarn.records import NANOSECONDS, Finding, InventoryItem, Placement
from tests.detector.feed import T0, Bench

TRACES = Path(__file__).parents[1] / "stragglers" / "steps.csv"
BATCHES = TRACES.with_name("batches.csv")
STEP = 3.0
RANK_SIGNALS = (
    "rank_step_seconds", "rank_compute_seconds", "rank_data_wait_seconds",
    "rank_communication_seconds", "rank_communication_bytes_per_second",
)  # fmt: skip
Values = dict[tuple[str, str], float]


class Job:
    """A synchronous job of ranks, eight a node, whose steps are as long as the slowest rank's."""

    def __init__(self, ranks: int = 64, stages: int = 0, seed: int = 1) -> None:
        self.bench, self.random = Bench(), np.random.default_rng(seed)
        self.ranks, self.step, self.found = ranks, 0, []
        self.stage = [rank * stages // ranks if stages else None for rank in range(ranks)]
        for rank in range(ranks):
            gpu = f"node/n{rank // 8}/gpu/0000:{rank % 8:02x}:00.0"
            place = Placement("llm", rank, f"n{rank // 8}", (gpu,), self.stage[rank])
            self.bench.inventory(InventoryItem("c", name(rank), T0 * NANOSECONDS, placement=place))

    def run(self, steps: int, slow: dict[int, float] | None = None, data: float = 1.0) -> None:
        """Run steps; `slow` are factors of computing by rank, `data` one of all loading."""
        for _ in range(steps):
            compute = 2.0 * self.random.normal(1.0, 0.006, self.ranks)
            for rank, factor in (slow or {}).items():
                compute[rank] *= factor
            wait = 0.02 * data * self.random.lognormal(0.0, 0.3, self.ranks)
            total = (compute + wait).max() + 0.5
            self.send({r: (total, compute[r], wait[r]) for r in range(self.ranks)})

    def send(self, values: dict[int, tuple[float, float, float]]) -> None:
        """Send one step: total, computing and waiting for data of each rank."""
        self.step += 1
        for node in sorted({rank // 8 for rank in values}):
            own: Values = {}
            for rank in (r for r in values if r // 8 == node):
                total, compute, wait = values[rank]
                rest = total - compute - wait
                numbers = (total, compute, wait, rest, 1e9 / max(rest, 0.01))
                own |= {(s, name(rank)): x for s, x in zip(RANK_SIGNALS, numbers, strict=True)}
            at = self.step * STEP + 0.01 * node
            self.found += self.bench.one(at, own, topic="jobs", node=f"n{node}", source="reporter")

    def named(self) -> set[str]:
        """Return the ranks that were told, with any movement."""
        return {f.entity for f in self.found if "/rank/" in f.entity}


def name(rank: int) -> str:
    return f"job/llm/rank/{rank}"


def opened(found: list[Finding]) -> list[Finding]:
    return [f for f in found if f.seq == 1]


def step_of(finding: Finding) -> float:
    return (finding.opened_at_unix_nano / NANOSECONDS - T0) / STEP


@pytest.mark.parametrize("stages", [0, 4])
@pytest.mark.parametrize("seed", range(5))
def test_slow_rank_of_64_is_named_within_five_steps_and_no_other(stages, seed):
    job = Job(stages=stages, seed=seed)
    job.run(20)
    assert job.found == []
    job.run(6, {37: 1.25})
    (own,) = opened(job.found)
    assert (own.entity, own.signal, own.movement) == (name(37), "rank_compute_seconds", "outlier")
    assert step_of(own) < 20 + 5 + 1
    assert own.expected == pytest.approx(2.0, rel=0.02)
    assert own.job == "llm"


@pytest.mark.parametrize("stages", [4, 8])
def test_slow_last_stage_blames_no_rank(stages):
    job = Job(stages=stages)
    last = {rank: 1.6 for rank in range(64) if job.stage[rank] == stages - 1}
    job.run(60, last)
    assert job.named() == set()


def test_slow_last_stage_that_nobody_named_blames_no_rank():
    job = Job(stages=0)
    job.run(60, dict.fromkeys(range(48, 64), 1.6))
    assert job.named() == set()


def test_rank_that_is_slow_now_and_then_is_not_named():
    job = Job()
    for _ in range(10):
        job.run(3)
        job.run(2, {5: 1.5})
    assert job.found == []


def test_rank_that_is_three_percent_slower_is_not_named():
    job = Job()
    job.run(60, {5: 1.03})
    assert job.found == []


def test_slow_rank_that_recovers_is_closed():
    job = Job()
    job.run(10)
    job.run(10, {5: 1.3})
    job.run(15)
    ids = {f.id for f in job.found}
    assert len(ids) == 1
    assert job.found[-1].closed_at_unix_nano is not None


def test_four_ranks_have_no_twins():
    job = Job(ranks=4)
    job.run(30, {2: 2.0})
    assert job.found == []


def test_slow_data_of_all_ranks_is_told_of_the_job():
    job = Job()
    job.run(30)
    job.run(10, data=30.0)
    told = {(f.entity, f.signal, f.family, f.movement) for f in opened(job.found)}
    assert told == {
        ("job/llm", "rank_data_wait_seconds", "peers", "all"),
        ("job/llm", "rank_data_wait_seconds", "band", "up"),
    }


def test_slow_rank_is_nothing_that_all_show():
    job = Job()
    job.run(30)
    job.run(30, {5: 1.5})
    assert {f.movement for f in job.found} == {"outlier"}


def test_job_that_ends_closes_what_its_ranks_showed():
    from tests.detector.feed import event  # noqa: PLC0415

    job = Job()
    job.run(10, {5: 1.5})
    assert job.found
    at = job.step * STEP
    job.bench.event(event(at + 1, "job/llm", "job.state:completed"))
    closed = job.bench.run(range(int(at + 2), int(at + 8)), {("node_power_watts", "node/n0"): 1.0})
    closed = [f for f in closed if f.signal == "rank_compute_seconds"]
    assert [f.closed_at_unix_nano is not None for f in closed] == [True]


def _trace(which: str) -> Iterator[tuple[dict[int, tuple[float, float, float]], dict[int, int]]]:
    """Give the steps of a real trace: (total, computing, 0) by rank, and the stage of each."""
    steps = defaultdict(dict)
    stage = {}
    with TRACES.open() as lines:
        for row in csv.DictReader(lines):
            if row["trace"] == which:
                rank = int(row["rank"])
                stage[rank] = int(row["stage"])
                numbers = float(row["step_seconds"]), float(row["compute_seconds"]), 0.0
                steps[int(row["step"])][rank] = numbers
    for step in sorted(steps):
        yield steps[step], stage


def _replay(which: str, stages: bool) -> Job:
    steps = list(_trace(which))
    job = Job(ranks=0)
    for rank, stage in steps[0][1].items():
        place = Placement("llm", rank, f"n{rank // 8}", (), stage if stages else None)
        job.bench.inventory(InventoryItem("c", name(rank), T0 * NANOSECONDS, placement=place))
    for values, _ in steps:
        job.send(values)
    return job


@pytest.mark.parametrize("stages", [True, False])
def test_real_job_with_one_slow_worker_names_it_alone(stages):
    job = _replay("AR", stages)
    assert job.named() == {name(0)}
    first = opened(job.found)[0]
    assert step_of(first) <= 6
    assert first.observed / first.expected == pytest.approx(2.35, abs=0.1)


@pytest.mark.parametrize("stages", [True, False])
def test_real_job_with_a_slow_last_stage_names_no_rank(stages):
    assert _replay("ST", stages).named() == set()


def test_real_job_with_a_slow_last_stage_says_so():
    told = opened(_replay("ST", True).found)
    found = [f for f in told if f.signal == "job_stage_imbalance_ratio"]
    assert [f.entity for f in found] == ["job/llm"]
    assert "stage 3 of job/llm" in found[0].text
    assert found[0].observed == pytest.approx(0.6, abs=0.15)


def test_real_job_with_a_slow_worker_has_no_slow_stage():
    assert "job_stage_imbalance_ratio" not in {f.signal for f in _replay("AR", True).found}


@pytest.mark.parametrize("which", ["job_2", "job_3"])
def test_real_jobs_without_a_clear_straggler_name_nobody(which):
    steps: dict[int, dict[int, tuple[float, float, float]]] = defaultdict(dict)
    with BATCHES.open() as lines:
        for row in csv.DictReader(lines):
            if row["job"] == which:
                seconds = float(row["batch_time"]) / 1000
                steps[int(row["step"])][int(row["worker"])] = (seconds, seconds, 0.0)
    job = Job(ranks=10)
    for step in sorted(steps):
        total = max(own[0] for own in steps[step].values())
        job.send({rank: (total, own[1], 0.0) for rank, own in steps[step].items()})
    assert job.named() == set()


class Node:
    """Eight GPUs of a node under one job, a frame a second."""

    def __init__(self, warmer: float = 0.0) -> None:
        self.bench, self.random = Bench(), np.random.default_rng(3)
        self.second, self.warmer, self.found = 0, warmer, []
        self.gpus = [f"node/n1/gpu/0000:{slot:02x}:00.0" for slot in range(8)]
        for rank, gpu in enumerate(self.gpus):
            place = Placement("llm", rank, "n1", (gpu,))
            self.bench.inventory(InventoryItem("c", name(rank), T0 * NANOSECONDS, placement=place))

    def run(self, seconds: int, hotter: float = 0.0, power_limit: float = 700.0) -> None:
        for _ in range(seconds):
            self.second += 1
            wave = 10 * np.sin(self.second / 30)  # all warm up and cool down together
            heat = 60 + wave + np.round(self.random.normal(0, 0.4, 8))
            heat[2] += self.warmer
            heat[5] += hotter
            own = {("gpu_temperature_celsius", gpu): x for gpu, x in
                   zip(self.gpus, heat, strict=True)}  # fmt: skip
            own |= {("gpu_power_limit_watts", gpu): 700.0 for gpu in self.gpus}
            own[("gpu_power_limit_watts", self.gpus[6])] = power_limit
            self.found += self.bench.one(self.second, own)


def test_gpu_that_always_runs_warmer_is_normal():
    node = Node(warmer=8.0)
    node.run(600)
    assert [f for f in node.found if f.family == "peers"] == []


def test_gpu_that_becomes_hotter_than_its_twins_is_an_outlier():
    node = Node(warmer=3.0)
    node.run(600)
    node.run(60, hotter=9.0)
    (own,) = [f for f in opened(node.found) if f.family == "peers"]
    assert (own.entity, own.movement) == (node.gpus[5], "outlier")
    assert "twins of node node/n1" in own.text


def test_hot_gpu_is_told_from_the_first_minute_on():
    node = Node()
    node.run(90, hotter=25.0)
    assert {f.entity for f in node.found if f.family == "peers"} == {node.gpus[5]}


def test_setting_that_differs_from_all_twins_is_an_outlier():
    node = Node()
    node.run(240, power_limit=500.0)
    (own,) = [f for f in opened(node.found) if f.signal == "gpu_power_limit_watts"]
    assert (own.entity, own.movement) == (node.gpus[6], "outlier")
