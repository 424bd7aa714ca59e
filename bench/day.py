"""One day of 1,250 nodes, read every 15 s, with faults at measured rates.

The day is made in shards of 125 nodes, each a cluster of its own with its share of the budget, so
that it can be made piece by piece; a shard is kept in a folder and not made again.

  python -m bench.day --save DIR [--shards 0-9] [--seed 1]
  python -m bench.day --table DIR [--page]
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

import runbooks
import simulator
from bench.reach import Other, others_of
from bench.tables import between
from forewarn.balance import Balance, poisson_interval
from forewarn.cli.line import Line
from forewarn.cli.score import Row, score
from forewarn.config import Detect, Settings
from simulator.course import course
from simulator.scenario import AirCooling, Fleet, LiquidCooling

NODES, SHARDS, PERIOD_SECONDS, BUDGET = 1250, 10, 15, 1.0


class Shard(msgspec.Struct, frozen=True):
    """What became of one part of the fleet in a day."""

    number: int
    nodes: int
    rows: tuple[Row, ...]
    others: tuple[Other, ...]
    causes: dict[str, int]
    balance: Balance
    took_seconds: float


def make(number: int, seed: int) -> Shard:
    """Simulate one shard, detect and decide."""
    began, nodes = time.monotonic(), NODES // SHARDS
    cooling = LiquidCooling() if number % 2 else AirCooling(supply_celsius=22.0, swing_celsius=1.5)
    fleet = Fleet(nodes=nodes, cooling=cooling, raw_meters=0.25)
    own = course(seed * 1000 + number, fleet, 1.0, PERIOD_SECONDS)
    simulation = simulator.simulate(own, seed)
    settings = Settings(cluster=own.cluster, detect=Detect(budget=BUDGET / SHARDS))
    with tempfile.TemporaryDirectory(prefix="forewarn-day-") as directory:
        line = Line(settings, Path(directory), runbooks.load())
        for instant in simulation:
            line.publish(
                instant.time_unix_nano, instant.frames, instant.job_frames, instant.events,
                instant.inventory,
            )  # fmt: skip
            line.step()
        line.finish()
        incidents, balance = line.incidents(), line.balance()
        line.close()
    result = score(simulation.truth, incidents)
    by_id = {incident.id: incident for incident in incidents}
    others = others_of([by_id[name] for name in result.others], own)
    causes = Counter(
        one.hypotheses[0].entry for one in incidents if one.state != "merged" and one.hypotheses
    )
    took = time.monotonic() - began
    return Shard(number, nodes, result.rows, others, dict(causes), balance, took)


def save(numbers: range, seed: int, folder: Path) -> None:
    """Make the shards that the folder lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        path = folder / f"shard-{number:02d}.json"
        if path.exists():
            continue
        made = make(number, seed)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(made)))
        found = sum(bool(row.incident) for row in made.rows)
        false = sum(not one.of for one in made.others)
        print(
            f"shard {number}: {found} of {len(made.rows)} faults found, {false} false incidents, "
            f"{made.took_seconds:.0f} s", flush=True,
        )  # fmt: skip


def table(shards: list[Shard]) -> str:
    """Return what happened, what was promised and what came of it."""
    rows = [row for one in shards for row in one.rows]
    others = [own for one in shards for own in one.others]
    promised = BUDGET * len(shards) / SHARDS
    low, high = poisson_interval(promised)
    false = sum(not own.of for own in others)
    causes = Counter[str]()
    for one in shards:
        causes.update(one.causes)
    found = [row for row in rows if row.incident]
    first = ", ".join(f"{cause} {count}" for cause, count in causes.most_common(12))
    lines = [
        "| | |", "|---|---|",
        f"| nodes and faults | {sum(one.nodes for one in shards)} nodes, {len(rows)} faults |",
        f"| found, right cause first | {len(found)}, {sum(row.right for row in found)} |",
        f"| incidents in all | {len(found) + len(others)} |",
        f"| further ones in the reach of a fault | {len(others) - false} |",
        f"| without a fault | {false} |",
        f"| learned findings: promised | {promised:.2f} (95 %: {low:.0f} to {high:.0f}) |",
        f"| learned findings: opened | {sum(one.balance.opened for one in shards)} |",
        f"| opened by rules and codes | {sum(one.balance.by_rules for one in shards)} |",
        f"| causes that stood first | {first} |",
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Make shards, or the table of those that are made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, default=Path("day-shards"))
    parser.add_argument("--shards", default=f"0-{SHARDS - 1}", help="first and last, as in 0-3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--page", action="store_true", help="put it into docs/benchmarks.md")
    own = parser.parse_args()
    if own.table:
        files = sorted(own.table.glob("shard-*.json"))
        shards = [msgspec.json.decode(one.read_bytes(), type=Shard) for one in files]
        print(table(shards))
        missed = [
            f"{row.mode} at {row.entity}" for s in shards for row in s.rows if not row.incident
        ]
        print("missed:", *missed, sep="\n  ")
        if own.page:
            between("day", table(shards))
        return
    first, _, last = own.shards.partition("-")
    save(range(int(first), int(last or first) + 1), own.seed, own.save)


if __name__ == "__main__":
    main()
