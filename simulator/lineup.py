"""Draws the jobs of a random scenario, and what is planned and harmless beside the faults."""

import numpy as np
from msgspec.structs import replace

from simulator.scenario import Job, Maintenance

POD_NODES = 16  # of one loop and one file system: no job is spread over two
SIZES, SIZE_WEIGHTS = (2, 4, 8, 16), (0.35, 0.4, 0.2, 0.05)  # nodes of a job
TENSOR = {2: 4, 4: 8, 8: 8, 16: 8}
PIPELINE = {2: 1, 4: 2, 8: 4, 16: 4}
PARAMETERS = {2: 8e9, 4: 1.3e10, 8: 3.4e10, 16: 7e10}
CHANGE_SECONDS = 180.0  # between the end of a job and the next one on its nodes
REBOOT_SECONDS = 120.0


def jobs(names: tuple[str, ...], random: np.random.Generator) -> tuple[Job, ...]:
    """Return jobs on all nodes: pairs in a small fleet, 2 to 16 nodes in a larger one."""
    pods = [names[i : i + POD_NODES] for i in range(0, len(names), POD_NODES)]
    groups = [group for pod in pods for group in _split(pod, len(names), random)]
    return tuple(_job(n, group, random) for n, group in enumerate(groups, start=1))


def _split(pod: tuple[str, ...], nodes: int, random: np.random.Generator) -> list[tuple[str, ...]]:
    out, left = [], pod
    while len(left) >= SIZES[0]:
        size = SIZES[0] if nodes < 2 * POD_NODES else int(random.choice(SIZES, p=SIZE_WEIGHTS))
        if size <= len(left):
            out.append(left[:size])
            left = left[size:]
    return out


def _job(number: int, nodes: tuple[str, ...], random: np.random.Generator) -> Job:
    size = len(nodes)
    return Job(
        name=f"train-{number}",
        nodes=nodes,
        step_seconds=round(float(random.uniform(1.8, 3.2)), 2),
        checkpoint_every=int(random.integers(90, 160)),
        evaluation_every=int(random.integers(180, 260)),
        first_step=int(random.integers(2_000, 60_000)),
        parameters=PARAMETERS[size],
        tensor=TENSOR[size],
        pipeline=PIPELINE[size],
        last_stage_load=round(float(random.uniform(1.0, 1.06)), 3) if PIPELINE[size] > 1 else 1.0,
    )


def harmless(
    own: tuple[Job, ...], free: list[int], duration: int, random: np.random.Generator
) -> tuple[tuple[Job, ...], tuple[Maintenance, ...]]:
    """Return the jobs and works with what people do on purpose to the `free` jobs.

    The first is started anew from its checkpoint, the second ends, its driver is reloaded and
    another job follows, the third never runs and one of its nodes is rebooted.
    """
    out = dict(enumerate(own))
    works: list[Maintenance] = []
    if free:
        at = float(random.integers(duration // 3, 3 * duration // 4))
        out[free[0]] = replace(own[free[0]], restart_seconds=at)
    if len(free) > 1:
        job, ends = own[free[1]], float(random.integers(duration // 3, duration // 2))
        out[free[1]] = replace(job, name=f"{job.name}-short", end_seconds=ends)
        out[len(own)] = replace(job, name=f"{job.name}-next", start_seconds=ends + CHANGE_SECONDS)
        reload_at = ends + CHANGE_SECONDS / 2
        works.append(Maintenance(kind="driver_reload", node=job.nodes[0], at_seconds=reload_at))
    if len(free) > 2:
        del out[free[2]]
        at = float(random.integers(duration // 3, duration - 2 * int(REBOOT_SECONDS)))
        node = own[free[2]].nodes[0]
        works.append(
            Maintenance(kind="reboot", node=node, at_seconds=at, down_seconds=REBOOT_SECONDS)
        )
    return tuple(out.values()), tuple(works)
