from collections.abc import Callable

import numpy as np
import pytest

from simulator.fleet import Floats, Machines
from simulator.job import JobRun
from simulator.knobs import Gradient, Knobs
from simulator.load import Load
from simulator.nic import Ports
from simulator.report import PhaseChange, StepReport
from simulator.scenario import Fleet, Job

MACHINES = Machines(Fleet(nodes=2))
Said = list[StepReport | PhaseChange]


class Bench:
    """One job on both nodes, with GPU speeds and ports of one's choice."""

    def __init__(self, **job: object) -> None:
        fields = {"name": "j", "nodes": ("n01", "n02"), "step_seconds": 2.0, "checkpoint_every": 0}
        self.job = JobRun(Job(**{**fields, **job}), MACHINES, seed=5)  # type: ignore[arg-type]
        self.speed: Floats = np.ones(len(MACHINES.gpus))
        self.ports, self.knobs = Ports(MACHINES, 5), Knobs(MACHINES, ("j",))
        self.load, self.gradient = Load(MACHINES), Gradient()
        self.busy: list[float] = []

    def run(self, start: int, end: int) -> Said:
        said: Said = []
        for second in range(start, end):
            self.load.clear()
            said += self.job.advance(second, self.speed, self.ports, self.gradient, self.load)
            self.busy.append(float(self.load.power.mean()))
            self.ports.advance(self.load, self.knobs)
        return said


def steps(said: Said) -> list[StepReport]:
    return [own for own in said if isinstance(own, StepReport)]


def states(said: Said) -> list[str]:
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
