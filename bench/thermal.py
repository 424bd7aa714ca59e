"""Thermal resistance +18 % under non-linear cooling: who finds it, how fast, at what false rate.

Every GPU of a simulated fleet fails once for 20 minutes. The threshold of each method is set on the
healthy time of the same run, so that it raises one false episode in 1,000 GPU-hours. The line of
the product is its own verdict instead: default settings, nothing set here. `--page` writes the
table into docs/benchmarks.md.
"""

import argparse

import numpy as np

from bench.tables import between
from bench.thermal_detector import Run, watch
from bench.thermal_methods import Faults, Judged, lasting, scores
from bench.thermal_world import World

PRODUCT = "**Forewarn as it is: temperature or fans**"


def product(run: Run, faults: Faults, width: int) -> Judged:
    """Judge the findings that were opened, of a GPU's heat or of its node's fans."""
    false = faults.episodes(run.heat_found, faults.healthy)
    false += faults.episodes(run.fans_found, faults.nodes_healthy)
    return faults.judge(run.heat_found | np.repeat(run.fans_found, width, axis=1), false)


def judge(run: Run, faults: Faults, learning: int, width: int) -> dict[str, Judged]:
    """Judge every method."""
    found: dict[str, Judged] = {}
    for line in (75, 85):
        high = run.core >= line
        false = faults.episodes(high, faults.healthy)
        found[f"static line, {line} C"] = faults.judge(high, false)
    for name, score in scores(run, learning, width).items():
        held = lasting(score)
        high = held >= faults.threshold(held)
        found[name] = faults.judge(high, faults.episodes(high, faults.healthy))
    return {**found, PRODUCT: product(run, faults, width)}


def table(judged: dict[str, Judged]) -> str:
    """Return the table of docs/benchmarks.md."""
    lines = [
        "| method | found within 10 min, under load | all | median delay "
        "| false episodes per 1,000 GPU-hours |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, own in judged.items():
        delay = f"{own.delay_seconds:.0f} s" if np.isfinite(own.delay_seconds) else "-"
        lines.append(
            f"| {name} | {own.loaded:.3f} | {own.every:.3f} | {delay} | "
            f"{own.false_per_1000_hours:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run, print, and write the page if asked to."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=32)
    options.add_argument("--hours", type=float, default=13.0)
    options.add_argument("--learning", type=float, default=3.0, help="hours before the first fault")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    own = options.parse_args()
    world, learning = World(own.nodes, own.hours, own.learning, own.seed), int(own.learning * 3600)
    run, width = watch(world), world.machines.width
    faults = Faults(world.onset, run, learning, width)
    text = table(judge(run, faults, learning, width))
    said = (
        f"{len(world.onset)} GPUs, {own.hours:g} h, seed {own.seed}: {int(faults.loaded.sum())} of "
        f"the {len(world.onset)} faults were under load; {faults.hours:,.0f} healthy GPU-hours."
    )
    print(f"{said}\n\n{text}")
    if own.page:
        between("thermal", f"{said}\n\n{text}")


if __name__ == "__main__":
    main()
