"""Other methods on the frames of bench/recall, at the same number of false incidents.

A method is given every series in buckets of ten seconds; three in a row beyond a threshold at a
node (or at what speaks for it: its rack, its job) are an alarm, alarms nearer than ten minutes one
incident. The threshold is the lowest that raises no more false incidents in all runs together than
Forewarn did, and at least one; published limits have none to choose. A fault is found if an alarm
comes at any node in its reach within a quarter of an hour, or before it ends.

  python -m bench.recall_baselines --seeds 0-3 --save DIR
  python -m bench.recall_baselines --table DIR --runs RECALL-DIR [--page]
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import recall, recall_draw, recall_methods
from bench.recall_table import lower
from bench.recall_world import BUCKET_SECONDS, Floats, World
from bench.tables import between
from simulator.claims import Claims
from simulator.faults import FAULTS
from simulator.fleet import Machines
from simulator.places import places
from simulator.scenario import Scenario
from simulator.simulation import simulate

LEARNING = recall_draw.FIRST_SECONDS // BUCKET_SECONDS
IN_A_ROW, APART, SOON = 3, 60, 90  # buckets


class Kept(NamedTuple):
    """What a table needs of a run: lasting scores by method, time by node, and the faults."""

    scores: dict[str, Floats]
    reach: list[frozenset[int]]
    onset: list[int]
    d_prime: list[float]
    strong: list[bool]


def lasting(scores: Floats) -> Floats:
    """Return the least of the last scores: at or above a threshold so many times in a row."""
    out = np.zeros_like(scores)
    parts = [scores[IN_A_ROW - 1 - k : len(scores) - k] for k in range(IN_A_ROW)]
    out[IN_A_ROW - 1 :] = np.minimum.reduce(parts)
    return out


def make(seed: int) -> Kept:
    """Simulate a run and score it by every method."""
    own = recall_draw.scenario(seed)
    world, nodes = World(own, seed), own.fleet.nodes
    scores = {
        name: lasting(world.by_node(method(world, LEARNING), nodes))
        for name, method in recall_methods.METHODS.items()
    }
    scores["IsolationForest by node"] = lasting(recall_methods.forest(world, LEARNING, nodes))
    scores["published limits"] = _limits(world, nodes)
    reach, onset = _reach(own)
    truths = {(t.mode, t.entity): t.d_prime for t in simulate(own, seed).truth}
    d_prime = [truths[fault.mode, fault.entity] for fault in own.fault]
    return Kept(scores, reach, onset, d_prime, [recall_draw.matters(f) for f in own.fault])


def _limits(world: World, nodes: int) -> Floats:
    """Return 1 where a published limit is crossed or a fatal code was told: time by node."""
    crossed = world.by_node(recall_methods.static(world, LEARNING).astype(np.float32), nodes)
    names = {name: number for number, name in enumerate(world.scenario.fleet.node_names())}
    for event in world.events:
        if event.code in recall_methods.FATAL:
            second = (event.time_unix_nano - world.scenario.start_unix_nano) / 1e9
            crossed[int(second) // BUCKET_SECONDS, names[event.node]] = 1.0
    return crossed


def _reach(own: Scenario) -> tuple[list[frozenset[int]], list[int]]:
    machines = Machines(own.fleet)
    known, claims = places(machines, own.job), Claims(machines, own.job)
    kinds = [FAULTS[fault.mode].entity_kind for fault in own.fault]
    reach = [
        claims.nodes(kind, known[kind][fault.entity])
        for kind, fault in zip(kinds, own.fault, strict=True)
    ]
    return reach, [int(fault.onset_seconds) // BUCKET_SECONDS for fault in own.fault]


def false_peaks(run: Kept, name: str) -> list[float]:
    """Return the peaks of a method's scores where no fault is or was, an hour of quiet apart."""
    scores = run.scores[name].copy()
    scores[:LEARNING] = 0.0
    for nodes, onset in zip(run.reach, run.onset, strict=True):
        scores[onset - 1 :, list(nodes)] = 0.0
    peaks = []
    for first in range(LEARNING, len(scores), APART):
        peaks += list(map(float, scores[first : first + APART].max(axis=0)))
    return sorted(peaks, reverse=True)


def threshold(runs: list[Kept], name: str, allowed: int) -> float:
    """Return the lowest threshold with no more false incidents than allowed."""
    if name == "published limits":
        return 0.5
    peaks = sorted((peak for run in runs for peak in false_peaks(run, name)), reverse=True)
    return peaks[allowed] * (1 + 1e-6) + 1e-12


def found(run: Kept, name: str, limit: float) -> list[int | None]:
    """Return of each fault after how many buckets it was found."""
    out: list[int | None] = []
    for nodes, onset in zip(run.reach, run.onset, strict=True):
        part = run.scores[name][onset : onset + SOON, list(nodes)].max(axis=1) >= limit
        out.append(int(part.argmax()) if part.any() else None)
    return out


def table(runs: list[Kept], ours: list[recall.Run]) -> str:
    """Return the race: faults with d' of 4 and more, all and those that cost something."""
    false = sum(not other.of for run in ours for other in run.others)
    rows = [(row, weak) for run in ours for row, weak in zip(run.rows, run.weak, strict=True)]
    clear = [(row, not weak) for row, weak in rows if row.d_prime >= 4]
    lines = [
        "| method | found of d' >= 4 | of those that cost something | 95 % from | median delay | "
        "false incidents |", "|---|---:|---:|---:|---:|---:|",
        _line("Forewarn", [(bool(r.incident), strong) for r, strong in clear],
              [r.delay_seconds for r, _ in clear if r.delay_seconds is not None], false),
    ]  # fmt: skip
    for name in runs[0].scores:
        limit = threshold(runs, name, max(false, 1))
        made, late = [], []
        for run in runs:
            for at, d, strong in zip(found(run, name, limit), run.d_prime, run.strong, strict=True):
                if d >= 4:
                    made.append((at is not None, strong))
                    late += [float(at * BUCKET_SECONDS)] if at is not None else []
        wrong = sum(peak >= limit for run in runs for peak in false_peaks(run, name))
        lines.append(_line(name, made, late, wrong))
    return "\n".join(lines)


def _line(name: str, made: list[tuple[bool, bool]], late: list[float], false: int) -> str:
    strong = [hit for hit, matters in made if matters]
    median = f"{np.median(late):.0f} s" if late else "-"
    return (
        f"| {name} | {sum(hit for hit, _ in made)} of {len(made)} | {sum(strong)} of {len(strong)} "
        f"| {lower(sum(strong), len(strong)):.3f} | {median} | {false} |"
    )


def save(seeds: range, folder: Path) -> None:
    """Make the runs that the folder lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        path = folder / f"world-{seed:03d}.npz"
        if path.exists():
            continue
        began, run = time.monotonic(), make(seed)
        reach = np.array([",".join(map(str, sorted(nodes))) for nodes in run.reach])
        np.savez_compressed(
            path, reach=reach, onset=run.onset, d_prime=run.d_prime, strong=run.strong,
            names=np.array(list(run.scores)), scores=np.stack(list(run.scores.values())),
        )  # fmt: skip
        print(f"seed {seed}: {time.monotonic() - began:.0f} s", flush=True)


def load(path: Path) -> Kept:
    """Return a run of the folder."""
    with np.load(path) as own:
        scores = dict(zip(map(str, own["names"]), own["scores"], strict=True))
        reach = [frozenset(map(int, str(text).split(","))) for text in own["reach"]]
        return Kept(scores, reach, list(map(int, own["onset"])), list(map(float, own["d_prime"])),
                    list(map(bool, own["strong"])))  # fmt: skip


def main() -> None:
    """Score runs, or make the table of those that are scored."""
    warnings.filterwarnings("ignore", category=RuntimeWarning, message="(Mean|All-NaN|Degrees)")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0-1")
    parser.add_argument("--save", type=Path, default=Path("recall-worlds"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--runs", type=Path, help="the runs of bench/recall with the same seeds")
    parser.add_argument("--page", action="store_true", help="put it into docs/benchmarks.md")
    own = parser.parse_args()
    if not own.table:
        first, _, last = own.seeds.partition("-")
        save(range(int(first), int(last or first) + 1), own.save)
        return
    files = sorted(own.table.glob("world-*.npz"))
    seeds = {int(path.stem.split("-")[1]) for path in files}
    ours = [run for run in recall.load(own.runs) if run.seed in seeds and not run.mixed]
    text = table([load(path) for path in files], ours)
    print(text)
    if own.page:
        between("recall-race", text)


if __name__ == "__main__":
    main()
