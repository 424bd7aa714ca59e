"""Thermal resistance + 18 % at the fleet's budget of one a day: through detector and decider.

GPUs of the simulator (non-linear cooling, leakage, silicon lottery) under jobs: in each round one
GPU of each node fails for 25 minutes, nodes one after the other. A fault is found if an incident
that holds its GPU or its node opens within ten minutes, by temperature or by fan effort. What no
fault explains is an other.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

import runbooks
from bench.tables import between
from detector.incidents.budget import DAY_NANO
from forewarn import entity as entities
from forewarn.cli.line import Line
from forewarn.config import Detect, Settings
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS
from simulator import simulate
from simulator.fleet import Machines
from simulator.scenario import AirCooling, Fault, Fleet, Job, Scenario

MORE = 0.18  # of the resistance from junction to air
LEARNING, ROUND, LASTS, WITHIN = 3600, 4500, 1500.0, 600.0  # seconds
GROUP = 4  # nodes of a job
BY = ("temperature", "fan", "thermal", "throttle")  # words of signals that tell of heat


class Found(NamedTuple):
    """What became of one fault: seconds until an incident, or None."""

    entity: str
    delay: float | None


def scenario(nodes: int, rounds: int, seed: int) -> Scenario:
    """Return a fleet whose GPUs fail in turn."""
    random = np.random.default_rng([seed, 18])
    fleet = Fleet(nodes=nodes, cooling=AirCooling(swing_celsius=1.5, swing_seconds=7200.0))
    machines, names = Machines(fleet), fleet.node_names()
    hardware = machines.models[0]
    whole = (hardware.silicon_kelvin_per_watt + hardware.paste_kelvin_per_watt
             + hardware.base_kelvin_per_watt + hardware.sink_kelvin_per_watt)  # fmt: skip
    severity = MORE * whole / hardware.paste_kelvin_per_watt
    faults = [
        Fault(
            mode="thermal_paste", severity=round(severity, 4), form="sudden",
            entity=machines.gpus[node * machines.width + int(random.integers(machines.width))],
            onset_seconds=float(begin), end_seconds=float(begin + LASTS),
        )
        for turn in range(rounds)
        for node in range(nodes)
        for begin in [LEARNING + turn * ROUND + node * (ROUND - LASTS - 300) // nodes]
    ]  # fmt: skip
    jobs = tuple(
        Job(name=f"j{at}", nodes=names[at * GROUP : (at + 1) * GROUP],
            step_seconds=round(float(random.uniform(1.5, 4.0)), 2),
            checkpoint_every=int(random.choice([100, 200, 400])))
        for at in range(nodes // GROUP)
    )  # fmt: skip
    return Scenario(
        name="heat", duration_seconds=LEARNING + rounds * ROUND, fleet=fleet, job=jobs,
        fault=tuple(sorted(faults, key=lambda own: own.onset_seconds)),
    )  # fmt: skip


def incidents(own: Scenario, seed: int, budget: float) -> list[Incident]:
    """Run the fleet through the line; return what it raised."""
    settings = msgspec.structs.replace(
        Settings(), cluster=own.cluster, detect=Detect(budget=budget)
    )
    with tempfile.TemporaryDirectory() as folder:
        line = Line(settings, Path(folder), runbooks.load())
        for number, instant in enumerate(simulate(own, seed)):
            line.publish(instant.time_unix_nano + NANOSECONDS, instant.frames, instant.job_frames,
                         instant.events, instant.inventory)  # fmt: skip
            line.step()
            if number % 1200 == 0:
                print(f"{number / 3600:5.2f} h", file=sys.stderr, flush=True)
        line.finish()
        found = [incident for incident in line.incidents() if incident.state != "merged"]
        line.close()
    return found


def judge(own: Scenario, raised: list[Incident]) -> tuple[list[Found], list[Incident]]:
    """Return what became of each fault, and the incidents that no fault explains."""
    left, out = list(raised), []
    for fault in own.fault:
        onset = own.start_unix_nano + round(fault.onset_seconds * NANOSECONDS)
        mine = [incident for incident in left if _tells(incident, fault.entity, onset)]
        first = min((incident.detected_at_unix_nano for incident in mine), default=None)
        out.append(Found(fault.entity, None if first is None else (first - onset) / NANOSECONDS))
        left = [incident for incident in left if incident not in mine]
    return out, left


def _tells(incident: Incident, gpu: str, onset: int) -> bool:
    """Say whether an incident tells of a GPU's heat while it is at fault."""
    here = {gpu, entities.root(gpu)} & {incident.entity, *incident.affected}
    during = 0 <= incident.detected_at_unix_nano - onset <= LASTS * NANOSECONDS
    hot = any(word in own.signal for own in incident.evidence for word in BY)
    return bool(here) and during and hot


def main() -> None:
    """Run, print, and write the page if asked to."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--nodes", type=int, default=32)
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--budget", type=float, default=1.0, help="false incidents a day")
    options.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    own = options.parse_args()
    made = scenario(own.nodes, own.rounds, own.seed)
    found, others = judge(made, incidents(made, own.seed, own.budget))
    delays = [one.delay for one in found if one.delay is not None and one.delay <= WITHIN]
    days = made.duration_seconds * NANOSECONDS / DAY_NANO
    said = (
        f"{len(found)} faults on {own.nodes} nodes of 8 GPUs at 1 Hz, seed {own.seed}, budget "
        f"{own.budget:g} a day: {len(delays)} found within ten minutes "
        f"({len(delays) / len(found):.3f}), median delay {np.median(delays or [np.nan]):.0f} s; "
        f"{len(others)} other incidents in {days * 24:.1f} h."
    )
    print(said)
    for incident in others:
        print(f"  other: {incident.entity}: {incident.title.en}")
    if own.page:
        between("thermal-fleet", said)


if __name__ == "__main__":
    main()
