"""NaN, climbing gradients, slow steps, hangs; phases excuse what they explain."""

import math
from typing import Any

import numpy as np
import pytest

from detector.families.progress import Progress
from detector.verdict.ledger import Ledger
from forewarn.records import Finding

JOB = "job/llm"


class Run:
    """A job that reports one step after another."""

    def __init__(self) -> None:
        self.progress = Progress("c", Ledger())
        self.random = np.random.default_rng(5)
        self.now = 1000.0
        self.found: list[Finding] = []

    def steps(self, count: int, seconds: float = 2.0, **values: Any) -> list[Finding]:
        """Report `count` steps; a value may be a function of the step number."""
        before = len(self.found)
        for step in range(count):
            own = {name: v(step) if callable(v) else v for name, v in values.items()}
            noise = 1 + 0.01 * self.random.normal()
            self.now += seconds
            norm = 0.4 * math.exp(0.1 * self.random.normal())
            own = {"job_step_seconds": seconds * noise, "job_loss": 2.2 * noise,
                   "job_gradient_norm": norm, **own}  # fmt: skip
            for name, value in own.items():
                if (nan := self.progress.on_number(JOB, name, value, self.now)) is not None:
                    self.found.append(nan)
            self.found += self.progress.on_values(JOB, own, self.now)
        return self.found[before:]

    def state(self, name: str) -> None:
        self.found += self.progress.on_state(JOB, name, self.now)


def test_steady_job_raises_nothing():
    assert Run().steps(2000) == []


def test_nan_loss_is_told_at_once_and_only_once():
    run = Run()
    run.steps(20)
    found = run.steps(20, job_loss=math.nan)
    (own,) = found
    assert (own.signal, own.movement, own.value_class) == ("job.nan", "event", "nan")
    assert (own.code, own.severity) == ("job.nan:loss", "critical")
    assert own.observed is None


def test_infinite_gradient_names_its_class():
    run = Run()
    (own,) = run.steps(1, job_gradient_norm=math.inf)
    assert (own.code, own.value_class) == ("job.nan:gradient_norm", "+inf")


def test_nan_that_ends_closes_its_finding():
    run = Run()
    run.steps(3, job_loss=math.nan)
    (own,) = run.steps(1)
    assert own.closed_at_unix_nano is not None
    assert own.seq > 1


def test_nan_updates_are_bounded_to_one_a_minute():
    run = Run()
    found = run.steps(150, job_loss=math.nan)
    assert len(found) <= 1 + 150 * 2 // 60


def test_climbing_gradient_norm_grows_before_it_is_nan():
    run = Run()
    run.steps(100)
    found = run.steps(60, job_gradient_norm=lambda step: 0.4 * 1.08**step)
    assert found[0].signal == "job_gradient_norm"
    assert found[0].movement == "grows"
    assert found[0].expected == pytest.approx(0.4, rel=0.1)


def test_loss_that_leaps_is_a_spike():
    run = Run()
    run.steps(100)
    found = run.steps(3, job_loss=6.0)
    assert [(f.signal, f.movement) for f in found[:1]] == [("job_loss", "spike")]


def test_slower_steps_are_a_step_up_after_three():
    run = Run()
    run.steps(100)
    assert run.steps(2, job_step_seconds=2.6) == []
    found = run.steps(4, job_step_seconds=2.6)
    assert [(f.signal, f.movement) for f in found] == [("job_step_seconds", "step_up")]


def test_five_percent_slower_is_below_the_effect_floor():
    run = Run()
    run.steps(100)
    assert run.steps(100, job_step_seconds=lambda _: 2.0 * 1.05) == []


def test_single_slow_step_is_not_told():
    run = Run()
    run.steps(100)
    assert run.steps(1, job_step_seconds=9.0) == []
    assert run.steps(100) == []


def test_lower_throughput_is_a_step_down():
    run = Run()
    run.steps(100, job_tokens_per_second=1e5)
    found = run.steps(10, job_tokens_per_second=7e4)
    assert [(f.signal, f.movement) for f in found] == [("job_tokens_per_second", "step_down")]


def test_finding_closes_when_steps_are_fast_again():
    run = Run()
    run.steps(100)
    run.steps(20, job_step_seconds=3.0)
    found = run.steps(60)
    assert found[-1].closed_at_unix_nano is not None


def test_no_step_for_long_is_told_in_event_time():
    run = Run()
    run.steps(50)
    assert run.progress.on_deadline(run.now + 30) == []
    (own,) = run.progress.on_deadline(run.now + 61)
    assert (own.signal, own.movement) == ("job_last_step_age_seconds", "step_up")
    assert own.severity == "critical"


def test_age_that_a_job_reports_itself_is_told():
    run = Run()
    run.steps(50)
    (own,) = run.progress.on_values(JOB, {"job_last_step_age_seconds": 90.0}, run.now + 1)
    assert own.observed == 90.0


@pytest.mark.parametrize("phase", ["checkpoint", "evaluation"])
def test_pause_is_no_hang_and_return_is_no_change(phase):
    run = Run()
    run.steps(50)
    run.state(f"{phase}_begin")
    assert run.progress.on_deadline(run.now + 300) == []
    run.now += 300
    run.state(f"{phase}_end")
    assert run.progress.on_deadline(run.now + 10) == []
    assert run.steps(50) == []


def test_completed_job_is_not_waited_for():
    run = Run()
    run.steps(50)
    run.state("completed")
    assert run.progress.on_deadline(run.now + 1000) == []


def test_job_that_failed_closes_its_findings():
    run = Run()
    run.steps(5, job_loss=math.nan)
    run.state("failed")
    assert run.found[-1].closed_at_unix_nano is not None


def test_restarted_job_learns_its_step_time_anew():
    run = Run()
    run.steps(50)
    run.state("restarted")
    assert run.steps(50, seconds=4.0) == []


def test_job_that_tells_its_age_stands_still_while_its_word_is_on_the_way():
    run = Run()
    run.steps(50)
    run.progress.on_values(JOB, {"job_last_step_age_seconds": 1.0}, run.now + 1, "n1")
    later = run.now + 100
    assert run.progress.on_deadline(later, lambda job, node: (later, later)) == []


def test_job_whose_speaker_died_is_seen_by_its_other_nodes():
    run = Run()
    run.steps(50)
    died, later = run.now + 1, run.now + 100
    run.progress.on_values(JOB, {"job_last_step_age_seconds": 1.0}, died, "n1")
    (own,) = run.progress.on_deadline(later, lambda job, node: (died, later))
    assert own.signal == "job_last_step_age_seconds"


def test_time_of_other_nodes_does_not_make_a_job_hang():
    run = Run()
    run.steps(50)
    own = run.now + 10
    assert run.progress.on_deadline(run.now + 300, lambda job, node: (own, own)) == []


def test_job_that_always_came_late_may_be_late_by_as_much():
    run = Run()
    run.steps(50)
    run.progress.on_values(JOB, {"job_loss": 2.0}, run.now, "n1", late=100.0)
    assert run.progress.on_deadline(run.now + 150) == []
    assert len(run.progress.on_deadline(run.now + 161)) == 1


def test_phase_that_is_told_late_does_not_take_the_last_step_back():
    run = Run()
    run.steps(50)
    run.progress.on_state(JOB, "checkpoint_end", run.now - 50)
    assert run.progress.on_deadline(run.now + 30) == []


def test_time_in_which_nobody_was_heard_is_no_hang():
    run = Run()
    run.steps(50)
    assert run.progress.on_deadline(run.now) == []
    assert run.progress.on_deadline(run.now + 7200) == []
    assert run.progress.on_deadline(run.now + 7230) == []
    assert [f.movement for f in run.progress.on_deadline(run.now + 7290)] == ["step_up"]
