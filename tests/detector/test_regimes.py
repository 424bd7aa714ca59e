"""Jobs, their phases, and what is normal while they last."""

import numpy as np
import pytest

from forewarn.records import NANOSECONDS, Finding, InventoryItem, Placement
from tests.detector.feed import T0, Bench, event

GPUS = tuple(f"node/n1/gpu/0000:{slot:02x}:00.0" for slot in range(6))
BUSY = "gpu_tensor_active_ratio"
WORK, PAUSE = 0.6, 0.02


class Job:
    """A job on the first GPUs of a node; `go` runs it for some seconds."""

    def __init__(self, gpus: tuple[str, ...] = GPUS) -> None:
        self.bench, self.now, self.random = Bench(), 0, np.random.default_rng(4)
        self.gpus = gpus

    def place(self, gpus: tuple[str, ...] | None = None) -> None:
        at = (T0 + self.now) * NANOSECONDS
        place = Placement("llm", 0, "node/n1", gpus if gpus is not None else self.gpus)
        self.bench.inventory(InventoryItem("c", "job/llm/rank/0", at, placement=place))

    def say(self, state: str) -> None:
        self.bench.event(event(self.now, "job/llm", f"job.state:{state}"))

    def step(self) -> None:
        self.bench.one(self.now, {("job_step_seconds", "job/llm"): 1.0}, topic="jobs", source="r")

    def go(self, seconds: int, level: float = WORK, **other: float):
        found = []
        for _ in range(seconds):
            noise = 0.005 * self.random.normal(size=len(GPUS))
            levels = {gpu: other.get(f"gpu{i}", level) for i, gpu in enumerate(GPUS)}
            values = {(BUSY, gpu): levels[gpu] + noise[i] for i, gpu in enumerate(GPUS)}
            found += self.bench.one(self.now, values)
            self.now += 1
        return found

    def started(self) -> "Job":
        self.place()
        self.say("running")
        self.go(60, PAUSE)
        self.step()
        self.go(300)
        return self


def test_start_of_a_job_raises_nothing():
    own = Job()
    own.go(300, PAUSE)
    own.place()
    own.say("running")
    assert own.go(100, PAUSE) == []
    own.step()
    assert own.go(300) == []


def test_one_device_of_a_job_that_stops_working_is_told():
    found = Job().started().go(30, gpu2=0.1)
    assert {(f.entity, f.signal, f.job) for f in found} == {(GPUS[2], BUSY, "llm")}
    assert found[0].movement == "step_down"


def _stepping(seconds: int, **other: float):
    own, found = Job().started(), []
    for _ in range(60):
        own.step()
        own.go(1)
    for _ in range(seconds):
        own.step()
        found += own.go(1, **other)
    return own, found


def test_device_that_stops_working_while_its_job_goes_on_is_told():
    _, found = _stepping(30, gpu2=0.02)
    assert {(f.entity, f.signal) for f in found} == {(GPUS[2], BUSY)}


def test_device_without_work_in_a_job_that_stalls_is_nothing():
    own, found = _stepping(0)
    found += own.go(120, gpu2=0.02, gpu3=0.02)
    assert {(f.entity, f.signal) for f in found} == {("job/llm", "job_last_step_age_seconds")}


def test_stall_is_no_excuse_for_ever():
    own, _ = _stepping(0)
    own.go(1840)
    assert GPUS[2] in {f.entity for f in own.go(30, gpu2=0.02)}


@pytest.mark.parametrize("phase", ["checkpoint", "evaluation"])
def test_phase_and_return_raise_nothing(phase):
    own = Job().started()
    own.say(f"{phase}_begin")
    found = own.go(120, PAUSE)
    own.say(f"{phase}_end")
    assert found + own.go(120) == []


def test_pause_is_not_learned_as_normal():
    own = Job().started()
    own.say("checkpoint_begin")
    own.go(600, PAUSE)
    own.say("checkpoint_end")
    own.go(30)
    found = own.go(30, gpu2=0.1)
    assert found[0].expected == pytest.approx(WORK, abs=0.02)


def test_pause_without_end_is_bounded():
    own = Job().started()
    own.say("checkpoint_begin")
    own.go(1810)
    assert own.go(30, gpu2=0.1)


def test_shift_of_the_whole_job_is_not_told_of_each_device():
    assert Job().started().go(60, 0.3) == []


def test_shift_of_the_whole_job_becomes_its_normal():
    own = Job().started()
    own.go(400, 0.3)
    found = own.go(30, 0.3, gpu2=0.0)
    assert {f.entity for f in found} == {GPUS[2]}
    assert found[0].expected == pytest.approx(0.3, abs=0.02)


def test_end_of_a_job_raises_nothing():
    own = Job().started()
    own.say("completed")
    assert own.go(300, PAUSE) == []


def test_next_job_on_the_same_devices_has_its_own_normal():
    own = Job().started()
    own.say("completed")
    own.go(60, PAUSE)
    own.say("running")
    own.go(30, PAUSE)
    own.step()
    assert own.go(400, 0.3) == []


def test_device_that_is_not_the_jobs_is_not_judged_by_it():
    own = Job(GPUS[:4]).started()
    assert own.go(60, gpu5=0.0) == []
    assert own.go(60, gpu1=0.0)


def test_device_that_the_job_leaves_is_judged_no_more():
    own = Job().started()
    own.place(GPUS[:4])
    assert own.go(60, gpu5=0.0) == []


def test_new_device_in_a_slot_is_learned_anew():
    own = Job()
    at = (T0 + own.now) * NANOSECONDS
    own.bench.inventory(InventoryItem("c", GPUS[2], at, attributes={"uuid": "GPU-a"}))
    own.started()
    at = (T0 + own.now) * NANOSECONDS
    own.bench.inventory(InventoryItem("c", GPUS[2], at, attributes={"uuid": "GPU-b"}))
    assert own.go(60, gpu2=0.3) == []


def test_repeated_inventory_changes_nothing():
    own = Job().started()
    own.place()
    found = own.go(30, gpu2=0.1)
    assert found[0].expected == pytest.approx(WORK, abs=0.02)


def test_step_of_the_run_before_does_not_end_the_start_of_the_next():
    own = Job().started()
    own.say("restarted")
    own.step()  # in the same second: it was finished before
    found = _disk(own, 250, 0.001)  # warming up reads nothing
    own.step()
    assert found + _disk(own, 100, 0.2) == []


def _disk(own: Job, seconds: int, latency: float) -> list[Finding]:
    """Run for some seconds with one latency of the node's disk."""
    found = []
    for _ in range(seconds):
        found += own.bench.one(
            own.now, {("disk_read_latency_seconds", "node/n1/disk/sda"): latency}
        )
        own.now += 1
    return [f for f in found if f.signal == "disk_read_latency_seconds"]
