"""Draws days or weeks of a fleet as they are: jobs that come and go, faults at measured rates.

Nodes fail as often as those of the trace in `rates`: some far more often than others, some days
more than others, each fault for as long as its repair took.
"""

import math

import numpy as np
from msgspec.structs import replace

from simulator.check import check
from simulator.faults import FAULTS
from simulator.faults.fault import Mode
from simulator.fleet import Machines
from simulator.places import Places, places
from simulator.rates import DAY_SHAPE, LEAST_HOURS, NODE_SHAPE, RATES, Rate
from simulator.scenario import Fault, Fleet, Form, Job, Scenario
from simulator.seeds import generator

DAY_SECONDS = 86_400
SIZES, SIZE_WEIGHTS = (1, 2, 4, 8), (0.2, 0.3, 0.3, 0.2)  # nodes of a job
GAP_SECONDS = 300.0  # between two jobs on the same nodes
MEDIAN_JOB_SECONDS, JOB_SIGMA = 8 * 3600.0, 1.0
LEARN_SECONDS = 3600.0  # without faults: detectors are no day old
FORMS: tuple[Form, ...] = ("sudden", "gradual", "intermittent")
FORM_WEIGHTS = (0.6, 0.2, 0.2)


def course(
    seed: int, fleet: Fleet, days: float, period_seconds: int = 15, times: float = 1.0
) -> Scenario:
    """Return a scenario of `days`; `times` multiplies all rates.

    The same arguments draw the same scenario.
    """
    random, seconds = generator(seed, "course"), round(days * DAY_SECONDS)
    own = _jobs(fleet.node_names(), seconds, random)
    machines = Machines(fleet)
    known, drawn = places(machines, own), []
    kind = "liquid" if machines.liquid else "air"
    for rate, node, at in _when(fleet.nodes, seconds, times, random):
        mode = _mode(rate, kind, random)
        if mode is not None and (entity := _where(mode, node, at, machines, known, own, random)):
            drawn.append(_fault(mode, entity, rate, at, seconds, random))
    scenario = Scenario(
        name=f"course-{seed}", duration_seconds=seconds, period_seconds=period_seconds,
        fleet=fleet, job=own, fault=tuple(sorted(drawn, key=lambda one: one.onset_seconds)),
    )  # fmt: skip
    check(scenario, scenario.name)
    return scenario


def _jobs(names: tuple[str, ...], seconds: int, random: np.random.Generator) -> tuple[Job, ...]:
    out: list[Job] = []
    left = names
    while left:
        size = min(int(random.choice(SIZES, p=SIZE_WEIGHTS)), len(left))
        group, left = left[:size], left[size:]
        at, under_way = 0.0, float(random.random())  # the day begins with jobs that run already
        while at < seconds:
            length = MEDIAN_JOB_SECONDS * math.exp(JOB_SIGMA * random.normal())
            length = float(round(max(length * (1.0 if at else under_way), 1800.0)))
            out.append(_job(len(out) + 1, group, at, at + length, random))
            at += length + GAP_SECONDS
    return tuple(out)


def _job(
    number: int, nodes: tuple[str, ...], start: float, end: float, random: np.random.Generator
) -> Job:
    return Job(
        name=f"job-{number}", nodes=nodes, start_seconds=start, end_seconds=end,
        step_seconds=round(float(random.uniform(2.0, 12.0)), 2),
        exchange_ratio=round(float(random.uniform(0.08, 0.3)), 3),
        checkpoint_every=int(random.choice([100, 200, 400])),
        checkpoint_seconds=round(float(random.uniform(8, 40)), 1),
        first_step=int(random.integers(500, 60_000)), tensor=1,
        intensity_ratio=round(float(random.uniform(0.75, 1.0)), 3),
    )  # fmt: skip


def _when(
    nodes: int, seconds: int, times: float, random: np.random.Generator
) -> list[tuple[Rate, int, float]]:
    """Return which row strikes which node when: Poisson counts, gamma means of nodes and days."""
    of_node = random.gamma(NODE_SHAPE, 1.0 / NODE_SHAPE, nodes)
    days = math.ceil(seconds / DAY_SECONDS)
    of_day = random.gamma(DAY_SHAPE, 1.0 / DAY_SHAPE, days)
    out = []
    for rate in RATES:
        for day in range(days):
            length = min(seconds - day * DAY_SECONDS, DAY_SECONDS) / DAY_SECONDS
            counts = random.poisson(times * rate.per_node_day * of_node * of_day[day] * length)
            for node in np.repeat(np.arange(nodes), counts):
                at = (day + length * random.random()) * DAY_SECONDS
                if LEARN_SECONDS <= at < seconds - 600:
                    out.append((rate, int(node), float(round(at))))
    return out


def _mode(rate: Rate, kind: str, random: np.random.Generator) -> Mode | None:
    fitting = [FAULTS[name] for name in rate.modes if FAULTS[name].cooling in {"", kind}]
    return fitting[random.integers(len(fitting))] if fitting else None


def _where(
    mode: Mode, node: int, at: float, machines: Machines, known: Places, own: tuple[Job, ...],
    random: np.random.Generator,
) -> str:  # fmt: skip
    """Return the entity of the mode's kind at a node, empty where none is (no job runs there)."""
    name, kind = machines.names[node], mode.entity_kind
    there = [
        job for job in own
        if name in job.nodes and job.start_seconds <= at < (job.end_seconds or math.inf)
    ]  # fmt: skip
    if kind in {"job", "rank"}:
        if not there:
            return ""
        job = f"job/{there[0].name}"
        rank = there[0].nodes.index(name) * machines.width + int(random.integers(machines.width))
        return job if kind == "job" else f"{job}/rank/{rank}"
    rack = int(machines.rack_of[node])
    index = {
        "gpu": node * machines.width + int(random.integers(machines.width)),
        "nic_port": node * machines.width + int(random.integers(machines.width)),
        "node": node, "mount": node, "rack": rack, "switch": rack,
    }[kind]  # fmt: skip
    return next(entity for entity, place in known[kind].items() if place == index)


def _fault(
    mode: Mode, entity: str, rate: Rate, at: float, seconds: int, random: np.random.Generator
) -> Fault:
    hours = max(rate.hours * math.exp(rate.sigma * random.normal()), LEAST_HOURS)
    low, high = mode.severities
    fault = Fault(
        mode=mode.name, entity=entity, onset_seconds=at,
        form=FORMS[int(random.choice(len(FORMS), p=FORM_WEIGHTS))],
        severity=round(math.exp(random.uniform(math.log(low), math.log(high))), 4),
        ramp_seconds=float(random.integers(60, 1800)),
        on_seconds=float(random.integers(120, 600)), off_seconds=float(random.integers(60, 600)),
    )  # fmt: skip
    end = at + 3600.0 * hours
    return replace(fault, end_seconds=float(round(end))) if mode.heals and end < seconds else fault
