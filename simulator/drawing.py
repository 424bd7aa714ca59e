"""Draws a random scenario: 64 GPUs, some jobs, one fault of each mode, all from a seed.

Faults begin after the first quarter and are fully developed at least 120 s before the end. No two
touch the same job, so that the truth says which incident belongs to which.
"""

import numpy as np

from simulator.check import check
from simulator.faults import FAULTS
from simulator.faults.fault import Mode
from simulator.fleet import Machines
from simulator.scenario import Fault, Fleet, Form, Job, Scenario
from simulator.seeds import generator

FORMS: tuple[Form, ...] = ("sudden", "gradual", "intermittent")
DURATION_SECONDS = 1500
TAIL_SECONDS = 150.0  # at least, from onset to the end
DEVELOPED_SECONDS = 120.0  # at least, from full severity to the end
NODES_PER_JOB = 2


def draw(seed: int, duration_seconds: int = DURATION_SECONDS, nodes: int = 8) -> Scenario:
    """Return a scenario with one fault of each mode at a random place, time, form and severity.

    `nodes` is a multiple of 2 and gives at least as many jobs as there are modes. The same seed
    draws the same scenario.

    Raises:
        ValueError: if there are fewer jobs than modes, or too little time.

    """
    fleet, random = Fleet(nodes=nodes), generator(seed, "draw")
    if nodes // NODES_PER_JOB < len(FAULTS):
        raise ValueError(f"{nodes} nodes: {len(FAULTS) * NODES_PER_JOB} are needed, two a fault")
    if duration_seconds / 4 + 2 * TAIL_SECONDS > duration_seconds:
        raise ValueError(f"{duration_seconds} s: too short to learn, fail and be found")
    jobs = _jobs(fleet.node_names(), random)
    hit = random.permutation(len(jobs))[: len(FAULTS)]
    machines = Machines(fleet)
    faults = tuple(
        _fault(mode, jobs[index], machines, duration_seconds, random)
        for mode, index in zip(FAULTS.values(), hit, strict=True)
    )
    scenario = Scenario(
        name=f"draw-{seed}", duration_seconds=duration_seconds, fleet=fleet, job=jobs, fault=faults
    )
    check(scenario, scenario.name)
    return scenario


def _jobs(names: tuple[str, ...], random: np.random.Generator) -> tuple[Job, ...]:
    pairs = [names[i : i + NODES_PER_JOB] for i in range(0, len(names) - 1, NODES_PER_JOB)]
    return tuple(
        Job(
            name=f"train-{number}",
            nodes=pair,
            step_seconds=round(float(random.uniform(1.8, 3.2)), 2),
            checkpoint_every=int(random.integers(90, 160)),
            evaluation_every=int(random.integers(180, 260)),
            first_step=int(random.integers(2_000, 60_000)),
        )
        for number, pair in enumerate(pairs, start=1)
    )


def _fault(
    mode: Mode, job: Job, machines: Machines, duration: int, random: np.random.Generator
) -> Fault:
    form = FORMS[random.integers(len(FORMS))]
    ramp = float(random.integers(60, 150))
    beat_on, beat_off = float(random.integers(60, 100)), float(random.integers(20, 40))
    develops = {"sudden": 0.0, "gradual": ramp, "intermittent": 2 * (beat_on + beat_off) + beat_on}
    latest = duration - max(TAIL_SECONDS, develops[form] + DEVELOPED_SECONDS)
    low, high = mode.severities
    return Fault(
        mode=mode.name,
        entity=_entity(mode, job, machines, random),
        onset_seconds=float(random.integers(int(duration / 4) + 1, int(latest))),
        severity=round(float(np.exp(random.uniform(np.log(low), np.log(high)))), 2),
        form=form,
        ramp_seconds=ramp,
        on_seconds=beat_on,
        off_seconds=beat_off,
    )


def _entity(mode: Mode, job: Job, machines: Machines, random: np.random.Generator) -> str:
    if mode.entity_kind == "job":
        return f"job/{job.name}"
    node = machines.node(job.nodes[random.integers(len(job.nodes))])
    own = machines.gpus_of(node)
    places = machines.gpus[own] if mode.entity_kind == "gpu" else machines.ports[own]
    return places[random.integers(len(places))]
