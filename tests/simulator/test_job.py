import itertools
from collections.abc import Callable

import numpy as np
import pytest

from simulator.fleet import Floats, Machines
from simulator.job import JobRun
from simulator.knobs import Gradient, Knobs
from simulator.load import Load
from simulator.nic import Ports
from simulator.pace import Pace
from simulator.report import LogLine, PhaseChange, Said, StepReport
from simulator.scenario import Fleet, Job

MACHINES = Machines(Fleet(nodes=2))


class Bench:
    """One job on both nodes, with GPU speeds and ports of one's choice."""

    def __init__(self, **job: object) -> None:
        fields = {"name": "j", "nodes": ("n01", "n02"), "step_seconds": 2.0, "checkpoint_every": 0}
        self.job = JobRun(Job(**{**fields, **job}), MACHINES, seed=5)  # type: ignore[arg-type]
        self.speed: Floats = np.ones(len(MACHINES.gpus))
        self.ports, self.knobs = Ports(MACHINES, 5), Knobs(MACHINES, ("j",))
        self.load, self.gradient = Load(MACHINES), Gradient()
        self.data, self.storage = np.zeros(len(MACHINES.gpus)), np.ones(len(MACHINES.nodes))
        self.busy: list[float] = []

    def pace(self) -> Pace:
        ones = np.ones(len(MACHINES.gpus))
        return Pace(
            speed=self.speed, exchange=self.ports.slowdown(), copy=ones, data=self.data,
            stalled=self.ports.stalled, down=self.ports.down, storage=self.storage,
            writing=self.storage,
        )  # fmt: skip

    def run(self, start: int, end: int) -> list[Said]:
        said: list[Said] = []
        for second in range(start, end):
            self.load.clear()
            said += self.job.advance(second, self.pace(), self.gradient, self.load)
            self.busy.append(float(self.load.power.mean()))
            self.ports.advance(self.load, self.knobs)
        return said


def steps(said: list[Said]) -> list[StepReport]:
    return [own for own in said if isinstance(own, StepReport)]


def states(said: list[Said]) -> list[str]:
    return [own.state for own in said if isinstance(own, PhaseChange)]


def test_step_is_compute_data_and_communication_on_every_rank() -> None:
    for step in steps(Bench().run(0, 200)):
        parts = step.compute + step.data + step.exchange
        assert np.allclose(parts, step.step_seconds)
        assert np.all(step.exchange > 0)


def test_healthy_step_takes_its_nominal_time() -> None:
    durations = [step.step_seconds for step in steps(Bench().run(0, 400))]
    assert np.median(durations) == pytest.approx(2.0, rel=0.05)
    assert np.std(durations) / np.mean(durations) < 0.02


def test_steps_follow_one_another_and_are_told_in_their_second() -> None:
    bench = Bench()
    last = 0.0
    for second in range(200):
        for step in steps(bench.run(second, second + 1)):
            assert second <= step.seconds < second + 1
            assert last == 0.0 or step.seconds - step.step_seconds == pytest.approx(last)
            last = step.seconds


def test_slow_gpu_slows_the_whole_job_and_the_others_wait() -> None:
    bench = Bench()
    healthy = steps(bench.run(0, 200))[-1]
    bench.speed[6] = 0.5
    slow = steps(bench.run(200, 260))[-1]
    assert slow.step_seconds > 1.6 * healthy.step_seconds
    assert slow.compute[6] == pytest.approx(2 * healthy.compute[6], rel=0.1)
    others = np.delete(np.arange(16), 6)
    assert np.allclose(slow.compute[others], healthy.compute[others], rtol=0.06)
    assert np.all(slow.exchange[others] > 3 * healthy.exchange[others])
    assert slow.exchange[6] < 1.5 * healthy.exchange[6]


def test_bad_port_costs_the_job_a_little_time() -> None:
    bench = Bench()
    healthy = np.median([step.step_seconds for step in steps(bench.run(0, 300))])
    bench.knobs.symbol_errors[2] = 120.0
    sick = np.median([step.step_seconds for step in steps(bench.run(300, 600))])
    assert 1.002 < sick / healthy < 1.05


def test_phases_come_in_order_and_are_told() -> None:
    bench = Bench(checkpoint_every=20, evaluation_every=40, end_seconds=320.0)
    said = bench.run(0, 400)
    told = states(said)
    assert told[0] == "running"
    assert told[-1] == "completed"
    cycle = ["checkpoint_begin", "checkpoint_end"]
    assert told[1:7] == [*cycle, *cycle, "evaluation_begin", "evaluation_end"]
    assert told.count("completed") == 1
    assert bench.busy[-1] == 0.0


def test_first_step_after_a_checkpoint_tells_how_long_it_took() -> None:
    told = [s.checkpoint_seconds for s in steps(Bench(checkpoint_every=10).run(0, 150))]
    assert told[:10] == [None] * 10
    assert told[10] == pytest.approx(12.0, rel=0.15)
    assert told[11] is None


def test_checkpoint_and_evaluation_move_the_load() -> None:
    bench = Bench(checkpoint_every=20, evaluation_every=20)
    bench.run(0, 82)
    training = np.mean(bench.busy[60:80])
    bench.busy.clear()
    bench.run(82, 130)
    assert min(bench.busy) < 0.2 * training
    assert np.any(np.isclose(bench.busy, 0.78, atol=0.01))


def test_job_waits_for_its_start() -> None:
    bench = Bench(start_seconds=50.0)
    assert bench.run(0, 50) == []
    assert not any(bench.busy)
    assert states(bench.run(50, 51)) == ["running"]


@pytest.mark.parametrize("field", ["loss", "gradient_norm"])
def test_nan_stays_and_steps_go_on(field: str) -> None:
    bench = Bench()
    healthy = [getattr(step, field) for step in steps(bench.run(0, 100))]
    bench.gradient.is_nan = True
    after = [getattr(step, field) for step in steps(bench.run(100, 140))]
    assert np.all(np.isfinite(healthy))
    assert len(after) > 10
    assert np.all(np.isnan(after))


def test_loss_falls_over_training(scenario: Callable[..., object]) -> None:
    losses = [step.loss for step in steps(Bench(step_seconds=0.5).run(0, 1500))]
    assert np.mean(losses[-200:]) < 0.9 * np.mean(losses[:200])


def test_ranks_are_laid_out_tensor_innermost_and_pipeline_outermost() -> None:
    ranks = Bench(pipeline=2, tensor=4).job.ranks
    assert list(ranks.stage) == [0] * 8 + [1] * 8
    assert list(ranks.tensor) == [0, 1, 2, 3] * 4


def test_heavy_last_stage_computes_longer_and_all_wait_for_it() -> None:
    bench = Bench(pipeline=2, tensor=8, last_stage_load=1.3)
    own = steps(bench.run(0, 200))[-1]
    assert own.compute[8:].mean() == pytest.approx(1.3 * own.compute[:8].mean(), rel=0.02)
    assert np.all(own.exchange[:8] > own.exchange[8:].max() + 0.3)


def test_rank_without_data_holds_up_all_others() -> None:
    bench = Bench()
    bench.run(0, 100)
    bench.data[3] = 0.4
    own = steps(bench.run(100, 200))[-1]
    others = np.delete(np.arange(16), 3)
    assert own.data[3] > 0.5
    assert np.all(own.data[others] < 0.05)
    assert np.all(own.exchange[others] > own.exchange[3] + 0.4)


def test_short_cut_of_a_link_costs_its_time_and_no_more() -> None:
    bench = Bench()
    healthy = float(np.median([step.step_seconds for step in steps(bench.run(0, 200))]))
    bench.knobs.cut[2] = 1.0
    said = bench.run(200, 203)
    bench.knobs.cut[2] = 0.0
    said += bench.run(203, 220)
    assert "failed" not in states(said)
    longest = max(step.step_seconds for step in steps(said))
    assert healthy + 2 < longest < healthy + 4.5


def test_long_cut_fails_the_job_with_the_rank_and_it_comes_back_from_its_checkpoint() -> None:
    bench = Bench(checkpoint_every=20, requeue_seconds=30.0)
    bench.run(0, 200)
    bench.knobs.cut[5] = 1.0
    said = bench.run(200, 240)
    lines = [own for own in said if isinstance(own, LogLine)]
    assert [(own.rank, own.code) for own in lines] == [(5, "nccl.error:ib_error_12")]
    assert states(said)[-1] == "failed"
    bench.knobs.cut[5] = 0.0
    again = bench.run(240, 400)
    assert states(again)[0] == "restarted"
    assert steps(again)[0].step % 20 == 1


def test_restart_on_purpose_is_told_once_and_repeats_steps_since_the_checkpoint() -> None:
    said = Bench(checkpoint_every=20, restart_seconds=100.0).run(0, 400)
    assert states(said).count("restarted") == 1
    assert "failed" not in states(said)
    numbers = [step.step for step in steps(said)]
    assert sum(b <= a for a, b in itertools.pairwise(numbers)) == 1


def test_slow_storage_makes_checkpoints_longer() -> None:
    bench = Bench(checkpoint_every=10)
    bench.storage[1] = 3.0
    told = [s.checkpoint_seconds for s in steps(bench.run(0, 200)) if s.checkpoint_seconds]
    assert told[0] == pytest.approx(36.0, rel=0.15)
