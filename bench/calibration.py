"""Simulated A100 against measured ones: percentiles of temperature and power.

Measured are two clusters of A100 (AcmeTrace, Shanghai AI Laboratory, CC BY 4.0; percentiles in
bench/data/acmetrace_percentiles.csv). Simulated is a fleet that is used as they were: a third of
the GPUs idle, a quarter held by somebody who computes little, the others in training of models that
draw more or less.

  python -m bench.calibration [--page]
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

import simulator
from bench.tables import between
from forewarn import wire
from simulator.scenario import AirCooling, Fleet, Job, Scenario

MEASURED = Path(__file__).parent / "data" / "acmetrace_percentiles.csv"
NODES, SECONDS, WARM_SECONDS = 96, 3600, 1200
# Shares of the nodes: idle, held, training; the trace's medians of utilisation are 97 % and 48 %.
IDLE, HELD = 0.28, 0.27
SHOWN = {
    "core, celsius": ("gpu_temperature_celsius", "core_celsius"),
    "memory, celsius": ("gpu_memory_temperature_celsius", "memory_celsius"),
    "GPU, watts": ("gpu_power_watts", "gpu_watts"),
    "server, watts": ("node_power_watts", "server_watts"),
}


def scenario(nodes: int = NODES, seconds: int = SECONDS, seed: int = 1) -> Scenario:
    """Return the fleet and what runs on it."""
    random, names = np.random.default_rng(seed), Fleet(nodes=nodes).node_names()
    idle, held = round(IDLE * nodes), round(HELD * nodes)
    jobs = [_held(name) for name in names[idle : idle + held]]
    left = names[idle + held :]
    jobs += [
        _training(number, left[i : i + 2], random)
        for number, i in enumerate(range(0, len(left), 2))
    ]
    return Scenario(
        name="calibration", duration_seconds=seconds, period_seconds=10, job=tuple(jobs),
        fleet=Fleet(
            nodes=nodes, hardware="a100-sxm",
            cooling=AirCooling(supply_celsius=18.0, wander_celsius=0.8, swing_celsius=1.5,
                               swing_seconds=2400.0, recirculation_celsius=3.0),
        ),
    )  # fmt: skip


def _held(name: str) -> Job:
    """Return a job that holds its GPUs and never gets beyond loading."""
    return Job(name=f"held-{name}", nodes=(name,), loading_seconds=1e6)


def _training(number: int, nodes: tuple[str, ...], random: np.random.Generator) -> Job:
    draws = float(
        random.choice([random.uniform(0.3, 0.7), random.uniform(0.9, 1.06)], p=(0.3, 0.7))
    )
    return Job(
        name=f"train-{number}", nodes=nodes, step_seconds=round(float(random.uniform(2, 6)), 2),
        exchange_ratio=round(float(random.uniform(0.06, 0.2)), 3), checkpoint_every=400,
        intensity_ratio=round(draws, 3),
    )  # fmt: skip


def simulated(
    own: Scenario, seed: int = 1
) -> dict[str, "np.ndarray[tuple[int], np.dtype[np.float64]]"]:
    """Return all readings of the shown signals after the fleet is warm."""
    wanted = {signal for signal, _ in SHOWN.values()}
    found: dict[str, list[np.ndarray[tuple[int], np.dtype[np.float64]]]] = defaultdict(list)
    layouts: dict[bytes, dict[str, np.ndarray[tuple[int], np.dtype[np.intp]]]] = {}
    begin = own.start_unix_nano + WARM_SECONDS * 10**9
    for instant in simulator.simulate(own, seed):
        for frame in instant.frames if instant.time_unix_nano >= begin else ():
            if frame.layout not in layouts:
                names = np.array([name for name, _ in wire.decode_layout(frame.layout).pairs()])
                layouts[frame.layout] = {s: np.flatnonzero(names == s) for s in wanted}
            values = np.frombuffer(frame.values, "<f8")
            for name, at in layouts[frame.layout].items():
                found[name].append(values[at])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def measured() -> dict[str, list[float]]:
    """Return the percentiles of the file by column."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def compare(own: Scenario) -> list[tuple[str, float, list[float], float]]:
    """Return (what, percentile, measured of each cluster, simulated)."""
    real, made = measured(), simulated(own)
    out = []
    for what, (signal, column) in SHOWN.items():
        values = made[signal][~np.isnan(made[signal])]
        columns = [name for name in real if name.startswith(column)]
        for place, percent in enumerate(real["percent"]):
            told = [real[name][place] for name in columns]
            out.append((what, percent, told, float(np.percentile(values, percent))))
    return out


def table(rows: list[tuple[str, float, list[float], float]]) -> str:
    """Return the comparison as a table."""
    out = ["| A100 | percentile | measured (Kalos, Seren) | simulated |", "|---|---:|---:|---:|"]
    for what, percent, told, made in rows:
        real = ", ".join(f"{value:.0f}" for value in told)
        out.append(f"| {what} | {percent:.0f} | {real} | {made:.0f} |")
    return "\n".join(out)


def main() -> None:
    """Print the comparison; with --page put it into docs/benchmarks.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true")
    rows = compare(scenario())
    print(table(rows))
    if parser.parse_args().page:
        between("calibration", table(rows))


if __name__ == "__main__":
    main()
