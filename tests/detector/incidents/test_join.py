import itertools
import random

import pytest

from forewarn.records import Finding
from tests.detector import samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.samples import finding, gpu, job, port

HOT_GPU, BAD_PORT, JOB = gpu(1, 3), port(5), job()


def throttled() -> list[Finding]:
    """Return what one overheating GPU brings, down to the job that waits for it."""
    return [
        finding(samples.HOT, HOT_GPU, 10),
        finding(samples.THROTTLED, HOT_GPU, 40),
        finding(samples.CLOCK_DOWN, HOT_GPU, 45),
        finding(samples.STEP_UP, JOB, 60, job=samples.JOB),
        finding(samples.TOKENS_DOWN, JOB, 61, job=samples.JOB),
        finding(samples.MFU_DOWN, JOB, 70, job=samples.JOB),
    ]


def link_errors() -> list[Finding]:
    return [finding(samples.LINK_ERRORS, BAD_PORT, 50)]


def diverged() -> list[Finding]:
    return [
        finding(samples.GRADIENT_UP, JOB, 30, job=samples.JOB),
        finding(samples.NAN, JOB, 65, job=samples.JOB),
    ]


def signals(stage: Stage) -> dict[str, set[str]]:
    return {own.entity: {one.signal for one in own.evidence} for own in stage.living()}


def test_consequences_of_a_throttled_gpu_are_one_incident_at_the_gpu(stage: Stage) -> None:
    stage.feed_one_by_one(throttled())
    (incident,) = stage.living()
    assert incident.entity == HOT_GPU
    assert len(incident.evidence) == 6
    assert set(incident.affected) == {HOT_GPU, JOB}
    assert incident.jobs == (samples.JOB,)
    assert incident.severity == "critical"
    assert incident.hypotheses[0].entry.startswith("GPU-TP-")
    assert incident.hypotheses[0].entity == HOT_GPU


@pytest.mark.parametrize("seed", range(20))
def test_three_faults_under_one_job_stay_three_incidents(stage: Stage, seed: int) -> None:
    everything = throttled() + link_errors() + diverged()
    for own in random.Random(seed).sample(everything, len(everything)):
        stage.feed(own, seconds=120)
    assert signals(stage) == {
        HOT_GPU: {own.signal for own in throttled()},
        BAD_PORT: {"nic_symbol_errors_total"},
        JOB: {"job_gradient_norm", "job.nan"},
    }
    causes = {own.entity: own.hypotheses[0].entry for own in stage.living()}
    assert causes[BAD_PORT] == "NIC-03"
    assert causes[JOB].startswith("TRN-")


def test_slow_job_without_any_cause_is_the_jobs_own_incident(stage: Stage) -> None:
    stage.feed(finding(samples.STEP_UP, JOB, 0, job=samples.JOB))
    stage.feed(finding(samples.TOKENS_DOWN, JOB, 1, job=samples.JOB))
    (incident,) = stage.living()
    assert incident.entity == JOB
    assert len(incident.evidence) == 2


def test_symptom_told_before_its_cause_is_merged_into_it(stage: Stage) -> None:
    stage.feed(finding(samples.STEP_UP, JOB, 0, job=samples.JOB))
    stage.feed(finding(samples.THROTTLED, HOT_GPU, 60))
    (incident,) = stage.living()
    (gone,) = [own for own in stage.store.incidents() if own.state == "merged"]
    assert incident.entity == HOT_GPU
    assert {own.signal for own in incident.evidence} == {"gpu.clock_event", "job_step_seconds"}
    assert (gone.entity, gone.merged_into) == (JOB, incident.id)


def test_symptom_long_before_a_fault_is_not_its_consequence(stage: Stage) -> None:
    stage.feed(finding(samples.STEP_UP, JOB, 0, job=samples.JOB))
    stage.feed(finding(samples.THROTTLED, HOT_GPU, 500))
    assert {own.entity for own in stage.living()} == {JOB, HOT_GPU}


def test_symptom_long_after_a_fault_was_over_is_not_its_consequence(stage: Stage) -> None:
    hot = finding(samples.THROTTLED, HOT_GPU, 0)
    stage.feed(hot)
    stage.feed(samples.closed(hot, 100))
    stage.feed(finding(samples.STEP_UP, JOB, 2000, job=samples.JOB))
    assert {own.entity for own in stage.store.incidents()} == {JOB, HOT_GPU}


def test_symptom_while_a_fault_goes_on_is_its_consequence(stage: Stage) -> None:
    stage.feed(finding(samples.THROTTLED, HOT_GPU, 0))
    stage.feed(finding(samples.STEP_UP, JOB, 2000, job=samples.JOB))
    assert {own.entity for own in stage.living()} == {HOT_GPU}


def test_fan_that_turns_up_long_after_its_gpu_got_hot_answers_it(stage: Stage) -> None:
    fan = {"signal": "node_fan_speed_ratio", "movement": "up", "family": "context"}
    node = HOT_GPU.rsplit("/gpu/", 1)[0]
    hot = finding(samples.HOT, HOT_GPU, 0)
    stage.feed(hot)
    stage.feed(finding(fan, node, 1000))
    (incident,) = stage.living()
    assert (incident.entity, len(incident.evidence)) == (HOT_GPU, 2)


def test_fan_that_turns_up_long_after_its_gpu_cooled_down_does_not(stage: Stage) -> None:
    fan = {"signal": "node_fan_speed_ratio", "movement": "up", "family": "context"}
    node = HOT_GPU.rsplit("/gpu/", 1)[0]
    hot = finding(samples.HOT, HOT_GPU, 0)
    stage.feed(hot)
    stage.feed(samples.closed(hot, 100))
    stage.feed(finding(fan, node, 1000))
    assert {own.entity for own in stage.store.incidents()} == {HOT_GPU, node}


def test_job_that_fails_after_its_numbers_went_bad_is_one_incident(stage: Stage) -> None:
    failed = {
        "signal": "job.state", "movement": "event", "family": "event",
        "value_class": "code", "code": "job.state:failed",
    }  # fmt: skip
    stage.feed(finding(samples.NAN, JOB, 0, job=samples.JOB))
    stage.feed(finding(failed, JOB, 20, job=samples.JOB))
    (incident,) = stage.living()
    assert {own.signal for own in incident.evidence} == {"job.nan", "job.state"}
    assert incident.hypotheses[0].entry.startswith("TRN-")


def test_symptom_of_another_job_is_not_joined(make_stage: MakeStage) -> None:
    stage = make_stage()
    stage.feed(finding(samples.THROTTLED, HOT_GPU, 0))
    stage.feed(finding(samples.STEP_UP, job("other"), 30, job="other"))
    assert {own.entity for own in stage.living()} == {job("other"), HOT_GPU}


def test_two_hot_gpus_of_one_node_are_two_incidents(stage: Stage) -> None:
    stage.feed(finding(samples.THROTTLED, gpu(1, 3), 0))
    stage.feed(finding(samples.THROTTLED, gpu(1, 4), 1))
    assert {own.entity for own in stage.living()} == {gpu(1, 3), gpu(1, 4)}


def test_idle_devices_of_a_slow_job_are_no_incidents_of_their_own(stage: Stage) -> None:
    idle = {"signal": "gpu_power_watts", "movement": "down", "family": "band"}
    stage.feed(finding(samples.THROTTLED, HOT_GPU, 0))
    for node, slot in itertools.product(range(8), range(8)):
        stage.feed(finding(idle, gpu(node, slot), 30))
    (incident,) = stage.living()
    assert incident.entity == HOT_GPU
    assert len(incident.affected) == 64


def test_node_that_draws_less_because_its_one_job_waits_is_no_incident_of_its_own(
    stage: Stage,
) -> None:
    idle = {"signal": "node_power_watts", "movement": "step_down", "family": "band"}
    stage.feed(finding(samples.THROTTLED, HOT_GPU, 0))
    stage.feed(finding(idle, "node/n5", 30))
    (incident,) = stage.living()
    assert incident.entity == HOT_GPU
    assert "node/n5" in incident.affected


def test_idle_device_without_a_job_is_its_own_incident(make_stage: MakeStage) -> None:
    stage = make_stage(samples.inventory(jobs=()))
    idle = {"signal": "gpu_power_watts", "movement": "down", "family": "band"}
    stage.feed(finding(idle, HOT_GPU, 0))
    assert [own.entity for own in stage.living()] == [HOT_GPU]


def test_parts_of_a_device_are_one_incident(stage: Stage) -> None:
    nic = port(5).rpartition("/port/")[0]
    stage.feed(finding(samples.LINK_ERRORS, port(5), 0))
    stage.feed(finding({**samples.LINK_ERRORS, "signal": "nic_link_downed_total"}, nic, 5))
    (incident,) = stage.living()
    assert len(incident.evidence) == 2


def test_clusters_are_kept_apart(make_stage: MakeStage) -> None:
    items = samples.inventory() + samples.inventory(cluster="d")
    stage = make_stage(items)
    one = finding(samples.THROTTLED, HOT_GPU, 0)
    stage.feed(one, finding(samples.THROTTLED, HOT_GPU, 0, cluster="d"))
    found = stage.living()
    assert {own.cluster for own in found} == {"c", "d"}
    assert len({own.id for own in found}) == 2


def slow_rank(number: int, seconds: float) -> Finding:
    what = {"signal": "rank_compute_seconds", "movement": "outlier", "family": "peers"}
    return finding(what, f"{JOB}/rank/{number}", seconds, job=samples.JOB)


@pytest.mark.parametrize("first", [True, False])
def test_slow_rank_is_drawn_to_the_device_it_runs_on_and_to_no_other(
    stage: Stage, first: bool
) -> None:
    slow, own, other = slow_rank(11, 30), gpu(1, 3), gpu(6, 0)
    hot = [finding(samples.THROTTLED, own, 10), finding(samples.THROTTLED, other, 12)]
    for one in [slow, *hot] if first else [*hot, slow]:
        stage.feed(one, seconds=40)
    assert signals(stage) == {
        own: {"gpu.clock_event", "rank_compute_seconds"}, other: {"gpu.clock_event"},
    }  # fmt: skip


def test_slow_rank_whose_device_is_well_is_not_explained_by_a_device_elsewhere(
    stage: Stage,
) -> None:
    stage.feed(finding(samples.THROTTLED, gpu(6, 0), 10), slow_rank(11, 30))
    assert {own.entity for own in stage.living()} == {gpu(6, 0), JOB}
