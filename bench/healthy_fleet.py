"""A healthy fleet over weeks, with everything that only looks like trouble; for bench/false_alarms.

Groups of nodes run jobs that begin, pause, restart on purpose and end; the room swings by day, a
quarter of the meters beats, nodes are rebooted and drivers reloaded between jobs, readings get
lost. No fault: whatever is raised here is false.
"""

import numpy as np

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
GAP_SECONDS = (180.0, 900.0, 3600.0)  # between two jobs: the next waits, or nobody asks
LIQUID = LiquidCooling(swing_celsius=1.0, wander_celsius=0.5)
AIR = AirCooling(swing_celsius=1.5, wander_celsius=0.5)


def healthy(nodes: int, days: float, period_seconds: int, seed: int) -> Scenario:
    """Return a scenario without faults; half of all seeds have a fleet cooled by air."""
    random = np.random.default_rng(seed)
    cooling: Cooling = AIR if seed % 2 else LIQUID
    fleet = Fleet(nodes=nodes, cooling=cooling, raw_meters=0.25)
    seconds = round(days * 86400)
    jobs: list[Job] = []
    works: list[Maintenance] = []
    for group in _groups(fleet.node_names(), random):
        _fill(group, seconds, period_seconds, random, jobs, works)
    return Scenario(
        name=f"healthy-{nodes}", duration_seconds=seconds, period_seconds=period_seconds,
        fleet=fleet, imperfection=Imperfection(failed_reading=5e-5, missed_frame=1e-3),
        job=tuple(jobs), maintenance=tuple(works),
    )  # fmt: skip


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
