"""How many faults are found, how soon, and what is raised without one: by bin of d'.

128 nodes of four GPUs at 1 Hz, two hours a run, 40 faults a run that do not meet (bench/recall_draw
says how they are drawn). A run is kept in a folder, so that a table can be made of many:

  python -m bench.recall --seeds 0-15 --save DIR     runs that the folder has are left out
  python -m bench.recall --table DIR [--page]       the table, with --page into docs/benchmarks.md
"""

import argparse
import gc
import tempfile
import time
from pathlib import Path

import msgspec

import runbooks
import simulator
from bench import recall_draw, recall_table
from bench.reach import Other, others_of
from forewarn.cli.line import Line
from forewarn.cli.score import Row, score
from forewarn.config import Settings


class Run(msgspec.Struct, frozen=True):
    """One run: `weak` says of each row that it is weaker than its mode draws by itself."""

    seed: int
    mixed: bool
    rows: tuple[Row, ...]
    weak: tuple[bool, ...]
    others: tuple[Other, ...]
    took_seconds: float


def run(seed: int, mixed: bool) -> Run:
    """Simulate the run of a seed, detect, decide, and hold it against the truth."""
    own, began = recall_draw.scenario(seed, mixed), time.monotonic()
    simulation = simulator.simulate(own, seed)
    with tempfile.TemporaryDirectory(prefix="forewarn-recall-") as directory:
        line = Line(Settings(cluster=own.cluster), Path(directory), runbooks.load())
        for instant in simulation:
            line.publish(
                instant.time_unix_nano, instant.frames, instant.job_frames, instant.events,
                instant.inventory,
            )  # fmt: skip
            line.step()
        line.finish()
        incidents = line.incidents()
        line.close()
    result = score(simulation.truth, incidents)
    weak = {(f.mode, f.entity): not recall_draw.matters(f) for f in own.fault}
    by_id = {incident.id: incident for incident in incidents}
    others = others_of([by_id[name] for name in result.others], own)
    return Run(
        seed, mixed, result.rows, tuple(weak[row.mode, row.entity] for row in result.rows),
        others, time.monotonic() - began,
    )  # fmt: skip


def path_of(folder: Path, seed: int, mixed: bool) -> Path:
    """Return where a run is kept."""
    return folder / f"run-{seed:03d}{'-mixed' if mixed else ''}.json"


def save(seeds: range, folder: Path, mixed: bool) -> None:
    """Make the runs that the folder lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        path = path_of(folder, seed, mixed)
        if path.exists():
            continue
        made = run(seed, mixed)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(made)))
        found = sum(bool(row.incident) for row in made.rows)
        false = sum(not other.of for other in made.others)
        print(
            f"seed {seed}: {found} of {len(made.rows)} found, {false} false incidents, "
            f"{made.took_seconds:.0f} s", flush=True,
        )  # fmt: skip
        gc.collect()


def load(folder: Path) -> list[Run]:
    """Return the runs of a folder."""
    return [msgspec.json.decode(own.read_bytes(), type=Run) for own in sorted(folder.glob("run-*"))]


def main() -> None:
    """Run, or make the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0-1", help="first and last, as in 0-15")
    parser.add_argument("--save", type=Path, default=Path("recall-runs"))
    parser.add_argument("--mixed", action="store_true", help="a fleet of four hardware models")
    parser.add_argument("--table", type=Path, help="a folder of runs")
    parser.add_argument("--page", action="store_true", help="put it into docs/benchmarks.md")
    own = parser.parse_args()
    if own.table:
        recall_table.show(load(own.table), own.page)
        return
    first, _, last = own.seeds.partition("-")
    save(range(int(first), int(last or first) + 1), own.save, own.mixed)


if __name__ == "__main__":
    main()
