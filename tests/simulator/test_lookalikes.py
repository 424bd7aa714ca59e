"""What looks like trouble and is none: each does what it says, and nothing else."""

import numpy as np
import pytest
from msgspec.structs import replace

import simulator
from bench.healthy_fleet import healthy
from simulator import Scenario
from simulator.check import check
from simulator.scenario import AirCooling, Fleet, Imperfection, Job, Maintenance
from tests.simulator.recorded import PERFECT, Recorded

GPU, OTHER = "node/n01/gpu/0000:1b:00.0", "node/n02/gpu/0000:1b:00.0"
JOB = Job(name="train", nodes=("n02",), step_seconds=2.0, checkpoint_every=30, loading_seconds=5)
BASE = Scenario(
    name="looks", duration_seconds=900, imperfection=PERFECT,
    fleet=Fleet(nodes=4, gpus_per_node=2), job=(JOB,),
)  # fmt: skip


def run(own: Scenario) -> Recorded:
    check(own, "looks")
    return Recorded(simulator.simulate(own, 1))


def works(kind: str) -> Scenario:
    work = Maintenance(kind=kind, node="n01", at_seconds=300, down_seconds=60)  # type: ignore[arg-type]
    return replace(BASE, maintenance=(work,))


def attributes(own: Recorded, entity: str) -> list[dict[str, str]]:
    return [dict(item.attributes) for item in own.inventory if item.entity == entity]


def test_preempted_job_makes_room_and_goes_on_from_its_checkpoint() -> None:
    job = replace(JOB, preempt_seconds=300, resume_seconds=500)
    own = run(replace(BASE, job=(job,)))
    states = {code: seconds for seconds, _, code in own.codes("job.state")}
    assert 300 <= states["job.state:preempted"] < 330
    assert states["job.state:running"] == pytest.approx(500, abs=0.1)
    assert "job.state:restarted" not in states
    assert own.get("gpu_power_watts", OTHER, 350, 490).mean() < 100
    assert own.get("gpu_power_watts", OTHER, 600).mean() > 400


def test_updated_driver_is_told_after_the_boot() -> None:
    own = run(works("driver_update"))
    versions = [own["driver"] for own in attributes(own, GPU)]
    assert versions[0] != versions[-1]
    assert len({other["driver"] for other in attributes(own, OTHER)}) == 1
    assert [code for _, _, code in own.codes("node.maintenance")] == ["node.maintenance:planned"]


def test_replaced_sensors_show_another_offset_and_nothing_else() -> None:
    changed, same = run(works("sensors_replaced")), run(works("reboot"))
    heat, power = "gpu_temperature_celsius", "gpu_power_watts"
    assert np.array_equal(changed.get(heat, GPU, 0, 300), same.get(heat, GPU, 0, 300))
    assert not np.array_equal(changed.get(heat, GPU, 400), same.get(heat, GPU, 400))
    assert np.array_equal(changed.get(power, GPU), same.get(power, GPU))
    assert attributes(changed, GPU) == attributes(same, GPU)


def test_replaced_gpu_is_another_device_in_the_same_slot() -> None:
    own = run(works("gpu_replaced"))
    uuids = [own["uuid"] for own in attributes(own, GPU)]
    assert len(set(uuids)) == 2
    second = "node/n01/gpu/0000:43:00.0"
    assert len({own["uuid"] for own in attributes(own, second)}) == 1


def test_hot_neighbours_warm_an_idle_node() -> None:
    warm = AirCooling(recirculation_celsius=6.0)
    jobs = tuple(replace(JOB, name=f"j{n}", nodes=(f"n0{n}",)) for n in (2, 3, 4))
    base = replace(BASE, job=jobs, fleet=Fleet(nodes=4, gpus_per_node=2, cooling=warm))
    well = replace(base, fleet=Fleet(nodes=4, gpus_per_node=2))
    inlet = "node_inlet_temperature_celsius"
    rise = (
        run(base).get(inlet, "node/n01", 600).mean() - run(well).get(inlet, "node/n01", 600).mean()
    )
    assert 2.0 < rise < 6.5


def test_model_that_waits_for_memory_draws_less() -> None:
    light = run(replace(BASE, job=(replace(JOB, intensity_ratio=0.6),)))
    dense = run(BASE)
    for own, least, most in ((light, 250, 480), (dense, 520, 705)):
        assert least < own.get("gpu_power_watts", OTHER, 600).mean() < most


def test_lossy_nodes_lose_many_frames_and_others_few() -> None:
    lossy = Imperfection(failed_reading=0.0, missed_frame=2e-3, lossy_nodes=0.5, lossy_factor=50)
    own = run(replace(BASE, fleet=Fleet(nodes=8, gpus_per_node=1), imperfection=lossy))
    counts = [len(own.get("node_cpu_utilization_ratio", f"node/n{n:02d}")) for n in range(1, 9)]
    assert min(counts) < 860
    assert max(counts) > 890


def test_clocks_are_off_for_good() -> None:
    off = replace(BASE, imperfection=replace(PERFECT, clock_sigma_seconds=0.005))
    own = run(off)
    late = {
        entity: np.diff(rows[:, 0])
        for (signal, entity), rows in own.series.items() if signal == "node_cpu_utilization_ratio"
    }  # fmt: skip
    first = [rows[0, 0] for (s, _), rows in own.series.items() if s == "node_cpu_utilization_ratio"]
    assert np.std(first) > 0.001
    assert all(np.allclose(steps, 1.0, atol=0.001) for steps in late.values())


def test_healthy_fleets_with_every_lookalike_are_sound() -> None:
    for seed in range(3):
        plain, every = healthy(40, 5, 60, seed), healthy(40, 5, 60, seed, every_lookalike=True)
        check(every, "every")
        assert every.fault == ()
        assert [job.name for job in plain.job] == [job.name for job in every.job]
        assert any(job.preempt_seconds for job in every.job)
        kinds = {work.kind for work in every.maintenance}
        assert kinds & {"driver_update", "sensors_replaced", "gpu_replaced"}
