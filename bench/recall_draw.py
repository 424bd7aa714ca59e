"""Draws the runs of bench/recall: many faults of all modes in one fleet that do not meet.

Modes take turns, so that after a few seeds each was drawn as often as any other that fits the way
of cooling. Where a mode knows noise its severity is solved for a d' that is even in log from 1 to
100; elsewhere it is drawn from the mode's range and d' is 300.
"""

import math

import numpy as np
from msgspec.structs import replace

from simulator.claims import Claims
from simulator.faults import FAULTS
from simulator.faults.fault import D_PRIME_MOST, Mode, always
from simulator.fleet import Machines
from simulator.places import places
from simulator.scenario import (
    AirCooling,
    Cooling,
    Fault,
    Fleet,
    Form,
    Job,
    LiquidCooling,
    ModelShare,
    Scenario,
)

NODES, SECONDS = 128, 7200
FAULTS_PER_RUN = 40
FIRST_SECONDS, LAST_SECONDS = 2400, 5700  # onsets: after 40 minutes of learning, 25 before the end
FORMS: tuple[Form, ...] = ("sudden", "gradual", "intermittent")
LEAST, MOST = 1.0, 100.0  # d'
MODELS = ("h100-sxm", "a100-sxm", "h200-sxm", "b200-hgx")
WIDE = ("facility", "storage_target", "pdu", "cdu", "rack", "switch")


def scenario(seed: int, mixed: bool = False, nodes: int = NODES) -> Scenario:
    """Return the run of a seed: odd ones are cooled by air; `mixed` has four hardware models."""
    random = np.random.default_rng([seed, 77])
    cooling: Cooling = AirCooling(swing_celsius=0.6, swing_seconds=5400.0)
    if seed % 2 == 0:
        cooling = LiquidCooling(racks_per_loop=2, swing_celsius=0.6, swing_seconds=5400.0)
    fleet = Fleet(
        nodes=nodes, gpus_per_node=4, nodes_per_rack=2, racks_per_feed=2, racks_per_storage=2,
        racks_per_room=2, cooling=cooling, raw_meters=0.25, models=_models(nodes) if mixed else (),
    )  # fmt: skip
    own = Scenario(
        name=f"recall-{seed}", duration_seconds=SECONDS, fleet=fleet,
        job=_jobs(fleet.node_names(), random),
    )  # fmt: skip
    return replace(own, fault=_faults(own, seed, random, FAULTS_PER_RUN * nodes // NODES))


def _models(nodes: int) -> tuple[ModelShare, ...]:
    each = nodes // len(MODELS)
    return tuple(ModelShare(hardware=name, nodes=each) for name in MODELS)


def _jobs(names: tuple[str, ...], random: np.random.Generator) -> tuple[Job, ...]:
    """Return a job on every rack of two nodes; a fault there reaches no other."""
    pairs = [names[i : i + 2] for i in range(0, len(names), 2)]
    return tuple(_job(number, pair, random) for number, pair in enumerate(pairs, 1))


def _job(number: int, nodes: tuple[str, ...], random: np.random.Generator) -> Job:
    return Job(
        name=f"train-{number}", nodes=nodes, step_seconds=round(float(random.uniform(1.8, 3.2)), 2),
        checkpoint_every=int(random.integers(90, 160)), tensor=4,
        evaluation_every=int(random.choice([0, 230])),
        exchange_ratio=round(float(random.uniform(0.1, 0.25)), 3),
        first_step=int(random.integers(2_000, 60_000)),
    )  # fmt: skip


def _turn(kind: str, seed: int, count: int) -> list[Mode]:
    """Return `count` modes of a seed: all that fit take turns; those of wide reach stand first."""
    fitting = [own for own in FAULTS.values() if own.cooling in {"", kind}]
    order = np.random.default_rng(5).permutation(len(fitting))
    first = seed // 2 * count
    turns = [int(order[(first + number) % len(fitting)]) for number in range(count)]
    wide = [fitting[turn] for turn in turns if fitting[turn].entity_kind in WIDE]
    return wide + [fitting[turn] for turn in turns if fitting[turn].entity_kind not in WIDE]


def _faults(own: Scenario, seed: int, random: np.random.Generator, count: int) -> tuple[Fault, ...]:
    machines = Machines(own.fleet)
    known, claims = places(machines, own.job), Claims(machines, own.job)
    taken: frozenset[int] = frozenset()
    out = []
    kind = "liquid" if isinstance(own.fleet.cooling, LiquidCooling) else "air"
    for mode in _turn(kind, seed, count):
        for place in random.permutation(len(known[mode.entity_kind])):
            entity, index = list(known[mode.entity_kind].items())[int(place)]
            reach = claims.nodes(mode.entity_kind, index)
            if not reach & taken:
                taken |= reach
                out.append(_fault(mode, entity, own, machines, random))
                break
    return tuple(sorted(out, key=lambda fault: fault.onset_seconds))


def _fault(
    mode: Mode, entity: str, own: Scenario, machines: Machines, random: np.random.Generator
) -> Fault:
    on, off = float(random.integers(90, 150)), float(random.integers(20, 40))
    fault = Fault(
        mode=mode.name, entity=entity, form=FORMS[random.integers(len(FORMS))],
        onset_seconds=float(random.integers(FIRST_SECONDS, LAST_SECONDS)),
        severity=mode.severities[0], ramp_seconds=float(random.integers(60, 150)),
        on_seconds=on, off_seconds=off,
    )  # fmt: skip
    return replace(fault, severity=_severity(mode, fault, own, machines, random))


def _severity(
    mode: Mode, fault: Fault, own: Scenario, machines: Machines, random: np.random.Generator
) -> float:
    low, high = mode.severities
    if mode.d_prime is always or mode.d_prime(fault, own, machines) >= D_PRIME_MOST:
        return round(math.exp(random.uniform(math.log(low), math.log(high))), 4)
    wanted = math.exp(random.uniform(math.log(LEAST), math.log(MOST)))
    return _solve(mode, fault, own, machines, wanted)


def _solve(mode: Mode, fault: Fault, own: Scenario, machines: Machines, wanted: float) -> float:
    """Return the severity of a d' by bisection in log; at most half beyond the mode's range."""
    low, high = mode.severities[0] / 1000, mode.severities[1]
    for _ in range(60):
        middle = math.sqrt(low * high)
        d_prime = mode.d_prime(replace(fault, severity=middle), own, machines)
        low, high = (middle, high) if d_prime < wanted else (low, middle)
    return round(high, 6)


def matters(fault: Fault) -> bool:
    """Say whether a fault is as strong as the weakest of its mode that costs something."""
    return fault.severity >= FAULTS[fault.mode].severities[0] * (1 - 1e-9)
