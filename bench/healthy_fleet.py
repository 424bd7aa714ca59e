"""A healthy fleet over weeks, with everything that only looks like trouble; for bench/false_alarms.

Groups of nodes run jobs that begin, pause, restart on purpose and end; the room swings by day, a
quarter of the meters beats, nodes are rebooted and drivers reloaded between jobs, readings get
lost. No fault: whatever is raised here is false.
"""

import numpy as np
from msgspec.structs import replace

from simulator.scenario import (
    AirCooling,
    Cooling,
    Fleet,
    Imperfection,
    Job,
    LiquidCooling,
    Maintenance,
    Scenario,
)

SIZES = (2, 4, 8)  # nodes of a group
PARAMETERS = (7e9, 8e9, 1.3e10, 3.4e10, 7e10)
RECIRCULATION_CELSIUS = 2.5
GAP_SECONDS = (180.0, 900.0, 3600.0)  # between two jobs: the next waits, or nobody asks
LIQUID = LiquidCooling(swing_celsius=1.0, wander_celsius=0.5)
AIR = AirCooling(swing_celsius=1.5, wander_celsius=0.5)


def healthy(
    nodes: int, days: float, period_seconds: int, seed: int, every_lookalike: bool = False
) -> Scenario:
    """Return a scenario without faults; half of all seeds have a fleet cooled by air.

    With `every_lookalike` jobs are preempted and models differ in what they draw, neighbours warm
    each other, drivers are updated, sensors and devices replaced, and a tenth of the nodes loses
    frames often; their clocks are off by milliseconds.
    """
    random = np.random.default_rng(seed)
    cooling: Cooling = AIR if seed % 2 else LIQUID
    fleet = Fleet(nodes=nodes, cooling=cooling, raw_meters=0.25)
    seconds = round(days * 86400)
    jobs: list[Job] = []
    works: list[Maintenance] = []
    for group in _groups(fleet.node_names(), random):
        _fill(group, seconds, period_seconds, random, jobs, works)
    own = Scenario(
        name=f"healthy-{nodes}", duration_seconds=seconds, period_seconds=period_seconds,
        fleet=fleet, imperfection=Imperfection(failed_reading=5e-5, missed_frame=1e-3),
        job=tuple(jobs), maintenance=tuple(works),
    )  # fmt: skip
    return _more(own, seed) if every_lookalike else own


def _more(own: Scenario, seed: int) -> Scenario:
    """Add the look-alikes that `healthy` has not by itself; what it drew stays as it is."""
    random = np.random.default_rng([seed, 1])
    supply = own.fleet.cooling.supply_celsius - RECIRCULATION_CELSIUS  # else beyond 27 at inlets
    cooling = replace(
        own.fleet.cooling, supply_celsius=supply, recirculation_celsius=RECIRCULATION_CELSIUS
    )
    lossy = replace(own.imperfection, lossy_nodes=0.1, clock_sigma_seconds=0.002)
    works = tuple(_other_work(work, random) for work in own.maintenance)
    return replace(
        own, fleet=replace(own.fleet, cooling=cooling), imperfection=lossy,
        job=tuple(_other_model(job, random) for job in own.job), maintenance=works,
    )  # fmt: skip


def _other_work(work: Maintenance, random: np.random.Generator) -> Maintenance:
    kinds = ("driver_update", "sensors_replaced", "gpu_replaced")
    kind = str(random.choice(kinds))
    return replace(work, kind=kind) if work.kind == "reboot" and random.random() < 0.5 else work


def _other_model(job: Job, random: np.random.Generator) -> Job:
    """Let a model draw less than a dense one, be of another size, and make room for a while."""
    intensity, size = round(float(random.uniform(0.7, 1.05)), 3), float(random.choice(PARAMETERS))
    job = replace(job, intensity_ratio=intensity, parameters=size)
    length = job.end_seconds - job.start_seconds
    if job.restart_seconds or length < 7200 or random.random() > 0.15:
        return job
    at = job.start_seconds + float(random.uniform(0.2, 0.6)) * length
    away = float(random.uniform(600, 0.3 * length))
    return replace(job, preempt_seconds=round(at), resume_seconds=round(at + away))


def _groups(names: tuple[str, ...], random: np.random.Generator) -> list[tuple[str, ...]]:
    out, left = [], names
    while left:
        size = min(int(random.choice(SIZES, p=(0.3, 0.4, 0.3))), len(left))
        out.append(left[:size])
        left = left[size:]
    return out


def _fill(
    group: tuple[str, ...], seconds: int, period: int, random: np.random.Generator,
    jobs: list[Job], works: list[Maintenance],
) -> None:  # fmt: skip
    """Fill the time of one group with jobs, and what is done to its nodes in between."""
    at = float(random.uniform(0, 600))
    while at < seconds:
        length = float(np.clip(random.lognormal(np.log(86400.0), 0.8), 1800, 6 * 86400))
        jobs.append(_job(f"j{len(jobs)}", group, at, length, period, random))
        at += length
        gap = float(random.choice(GAP_SECONDS))
        if random.random() < 0.3:
            kind = random.choice(["driver_reload", "reboot"])
            works.append(
                Maintenance(kind=kind, node=str(random.choice(group)), at_seconds=round(at + 150),
                            down_seconds=float(random.integers(120, 400)))
            )  # fmt: skip
            gap = max(gap, 900.0)
        at += gap


def _job(
    name: str, group: tuple[str, ...], start: float, length: float, period: int,
    random: np.random.Generator,
) -> Job:  # fmt: skip
    """Draw a job; where readings come once a minute its steps are long, as those of large ones."""
    least, most = (1.5, 4.0) if period < 10 else (0.5 * period, 1.5 * period)
    pipeline = int(random.choice([1, 1, 2]))
    restart = start + random.uniform(0.2, 0.8) * length if random.random() < 0.3 else 0.0
    return Job(
        name=name, nodes=group, start_seconds=round(start), end_seconds=round(start + length),
        step_seconds=round(float(random.uniform(least, most)), 2),
        exchange_ratio=float(random.uniform(0.08, 0.4)),
        checkpoint_every=int(random.choice([50, 100, 200])),
        checkpoint_seconds=float(random.uniform(8, 40)),
        evaluation_every=int(random.choice([0, 0, 150])), pipeline=pipeline, tensor=4,
        last_stage_load=float(random.uniform(1.0, 1.2)) if pipeline > 1 else 1.0,
        first_step=int(random.integers(500, 60000)), restart_seconds=round(restart),
    )  # fmt: skip
