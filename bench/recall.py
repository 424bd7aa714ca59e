"""How many faults are found, how soon, and what is raised without one: by bin of d'.

128 nodes of four GPUs at 1 Hz, two hours a run, 40 faults a run that do not meet (bench/recall_draw
says how they are drawn). A run is kept in a folder, so that a table can be made of many:

  python -m bench.recall --seeds 0-15 --save DIR     runs that the folder has are left out
  python -m bench.recall --table DIR [--write]       the table, with --write into docs/benchmarks.md
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
from forewarn import entity as entities
from forewarn.cli.line import Line
from forewarn.cli.score import CLOCK_SECONDS, Row, score
from forewarn.config import Settings
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS
from simulator.claims import Claims
from simulator.faults import FAULTS
from simulator.fleet import Machines
from simulator.places import places
from simulator.scenario import Scenario


class Other(msgspec.Struct, frozen=True):
    """An incident that is no fault's first: `of` is the fault whose reach it lies in, if any."""

    entity: str
    cause: str
    seconds: float
    of: str


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
    others = _others([by_id[name] for name in result.others], own)
    return Run(
        seed, mixed, result.rows, tuple(weak[row.mode, row.entity] for row in result.rows),
        others, time.monotonic() - began,
    )  # fmt: skip


def _others(incidents: list[Incident], own: Scenario) -> tuple[Other, ...]:
    """Say of each incident whether it lies in the reach of a fault that had begun."""
    machines = Machines(own.fleet)
    known, claims = places(machines, own.job), Claims(machines, own.job)
    reach = []
    for fault in own.fault:
        kind = FAULTS[fault.mode].entity_kind
        reach.append((fault, claims.nodes(kind, known[kind][fault.entity])))
    out = []
    for incident in incidents:
        begin = (incident.first_evidence_at_unix_nano - own.start_unix_nano) / NANOSECONDS
        nodes = _nodes(incident, machines, known, claims)
        fit = (
            fault.mode for fault, touched in reach
            if touched & nodes and begin >= fault.onset_seconds - CLOCK_SECONDS
        )  # fmt: skip
        cause = incident.hypotheses[0].entry if incident.hypotheses else ""
        out.append(Other(incident.entity, cause, begin, next(fit, "")))
    return tuple(out)


def _nodes(
    incident: Incident, machines: Machines, known: dict[str, dict[str, int]], claims: Claims
) -> frozenset[int]:
    found: set[int] = set()
    for entity in (incident.entity, *incident.affected):
        root, kind = entities.root(entity), entities.kind(entities.root(entity))
        if kind in known and root in known[kind]:
            found |= claims.nodes(kind, known[kind][root])
    return frozenset(found)


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
    parser.add_argument("--write", action="store_true", help="put it into docs/benchmarks.md")
    own = parser.parse_args()
    if own.table:
        recall_table.show(load(own.table), own.write)
        return
    first, _, last = own.seeds.partition("-")
    save(range(int(first), int(last or first) + 1), own.save, own.mixed)


if __name__ == "__main__":
    main()
