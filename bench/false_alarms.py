"""False incidents of a healthy fleet, against what the budget promises: `--nodes 250 --days 60`.

No fault is simulated, only what looks like one (bench/healthy_fleet.py), so whatever learned
findings open is false. Two detect workers share the fleet, as two of a consumer group do: each a
half of its nodes, with jobs that stay within the half. What they find goes to one decide stage per
budget. Counted is what `forewarn budget` counts, from the first minute on.

A count is inside if it lies in the 95 % Poisson interval of budget x days, widened by 1.5 on both
sides: silence is outside, too. Exit code 1 if one is outside.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import msgspec
from prometheus_client import CollectorRegistry

import runbooks
from bench.healthy_fleet import healthy
from bench.tables import between
from detector.decide import Decide
from detector.engine import Engine
from detector.incidents.balance import BudgetQuery, balance
from detector.incidents.store import Store
from forewarn import entity as entities
from forewarn import wire
from forewarn.balance import poisson_interval
from forewarn.bus import Message, TopicName
from forewarn.config import Detect, Settings
from forewarn.deadletter import DeadLetters
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS, Finding
from simulator import Instant, simulate
from simulator.scenario import Scenario

WORKERS = 2
WIDER = 1.5
BATCH_SECONDS = 3600  # what a worker sends at once
DAY = 86_400


class Step(NamedTuple):
    """What one instant brings to decide; `now` is the stream's clock, ns."""

    now: int
    messages: list[Message]


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """What one budget came to."""

    budget: float
    promised: float
    low: int
    high: int
    opened: int
    held_back: int
    by_rules: int

    @property
    def inside(self) -> bool:
        """Say whether the count is in the widened interval."""
        return self.low / WIDER <= self.opened <= self.high * WIDER


class Worker:
    """One detect worker and the half of the fleet that it reads."""

    def __init__(self, scenario: Scenario, seed: int, budget: float) -> None:
        self._scenario, self._seed = scenario, seed
        registry = CollectorRegistry()
        dead = DeadLetters(MemoryBus().producer(), "bench", registry)
        self._engine = Engine(scenario.cluster, registry, dead, 0, budget)
        self._offset = 0

    def steps(self) -> Iterator[Step]:
        """Yield what decide reads: inventory, events and findings, instant by instant."""
        for instant in simulate(self._scenario, self._seed):
            now = instant.time_unix_nano + NANOSECONDS
            told, own = self._messages(instant, now)
            found = self._engine.feed(told + own)
            yield Step(now, told + [self._finding(one, now) for one in found])

    def _messages(self, instant: Instant, now: int) -> tuple[list[Message], list[Message]]:
        told = [self._message("inventory", i.entity, wire.encode_inventory(i), now)
                for i in instant.inventory]  # fmt: skip
        told += [self._message("events", e.node or entities.root(e.entity), wire.encode_event(e),
                               now) for e in instant.events]  # fmt: skip
        own = [self._message("jobs", f.source, wire.encode_frame(f), now)
               for f in instant.job_frames]  # fmt: skip
        own += [self._message("frames", f.node, wire.encode_frame(f), now) for f in instant.frames]
        return told, own

    def _finding(self, finding: Finding, now: int) -> Message:
        return self._message("findings", finding.entity, wire.encode_finding(finding), now)

    def _message(self, topic: TopicName, key: str, value: bytes, now: int) -> Message:
        self._offset += 1
        return Message(topic, key, value, 0, self._offset, now)


class Desk:
    """One decide stage with its budget."""

    def __init__(self, budget: float, folder: Path, start: int) -> None:
        self.budget, self._start, self._now = budget, start, start
        settings = msgspec.structs.replace(
            Settings(), cluster="bench", detect=Detect(budget=budget)
        )
        self._store = Store(folder / f"{budget:g}.sqlite")
        self._decide = Decide(
            settings, self._store, runbooks.load(), MemoryBus().producer(), CollectorRegistry(),
            clock=lambda: self._now,
        )  # fmt: skip

    def take(self, step: Step) -> None:
        """Work through one instant."""
        self._now = step.now
        self._decide.step(step.messages)

    def count(self) -> Count:
        """Return what was opened so far."""
        days = (self._now - self._start) / NANOSECONDS / DAY
        found = balance(self._store, self.budget, BudgetQuery(days=days, until=self._now))
        low, high = poisson_interval(self.budget * days)
        return Count(
            budget=self.budget, promised=self.budget * days, low=low, high=high,
            opened=found.opened, held_back=found.held_back, by_rules=found.by_rules,
        )  # fmt: skip

    def openers(self) -> list[str]:
        """Return which finding opened each incident of a learned one: a line each."""
        return [
            f"{(own.detected_at_unix_nano - self._start) / NANOSECONDS / DAY:7.2f} d "
            f"{', '.join(map(_named, sorted(own.evidence, key=_opened)[:5]))}"
            for own in sorted(self._store.incidents(), key=lambda o: o.detected_at_unix_nano)
            if own.state != "merged" and any(finding.learned for finding in own.evidence)
        ]


def _opened(finding: Finding) -> int:
    return finding.opened_at_unix_nano


def _named(own: Finding) -> str:
    price = "" if own.per_day is None else f" ({own.per_day:.2g} a day)"
    return f"{own.entity} {own.signal} {own.movement}{price}"


def halves(options: argparse.Namespace) -> list[Scenario]:
    """Return the scenario of each worker: its own nodes, under a cluster name of its own."""
    days = options.days if options.hours is None else options.hours / 24
    sizes = [(options.nodes + at) // WORKERS for at in range(WORKERS)]
    made = [healthy(size, days, options.period, WORKERS * options.seed + at, every_lookalike=True)
            for at, size in enumerate(sizes)]  # fmt: skip
    return [
        msgspec.structs.replace(
            own, cluster=f"half-{at}",
            fleet=msgspec.structs.replace(own.fleet, gpus_per_node=options.gpus_per_node,
                                          **_models(options)),
        )
        for at, own in enumerate(made)
    ]  # fmt: skip


def _models(options: argparse.Namespace) -> dict[str, object]:
    return {"models": tuple(options.models.split(","))} if options.models else {}


def work(scenario: Scenario, seed: int, budget: float, pipe: Connection) -> None:
    """Run one worker and send its steps, an hour at a time; None ends them."""
    batch: list[Step] = []
    for step in Worker(scenario, seed, budget).steps():
        batch.append(step)
        if (step.now - batch[0].now) >= BATCH_SECONDS * NANOSECONDS:
            pipe.send(batch)
            batch = []
    pipe.send(batch)
    pipe.send(None)


def merged(pipes: list[Connection]) -> Iterator[Step]:
    """Give the steps of all workers in the order of time."""
    ready: list[list[Step]] = [[] for _ in pipes]
    open_ = set(range(len(pipes)))
    while open_ or any(ready):
        for at in [at for at in open_ if not ready[at]]:
            batch = pipes[at].recv()
            if batch is None:
                open_.discard(at)
            else:
                ready[at] = batch
        if any(not ready[at] for at in open_):
            continue
        held = [at for at in range(len(pipes)) if ready[at]]
        if held:
            yield ready[min(held, key=lambda at: ready[at][0].now)].pop(0)


def run(options: argparse.Namespace) -> list[Count]:
    """Run the fleet through; return a count for each budget."""
    budgets = [float(own) for own in options.budgets.split(",")]
    scenarios = halves(options)
    pipes: list[Connection] = []
    workers = []
    for at, scenario in enumerate(scenarios):
        here, there = multiprocessing.Pipe(duplex=False)
        seed = WORKERS * options.seed + at
        workers.append(multiprocessing.Process(
            target=work, args=(scenario, seed, max(budgets), there), daemon=True))  # fmt: skip
        pipes.append(here)
        workers[-1].start()
        there.close()
    with tempfile.TemporaryDirectory() as folder:
        desks = [Desk(own, Path(folder), scenarios[0].start_unix_nano) for own in budgets]
        _pass(merged(pipes), desks, scenarios[0], options)
        if options.openers:
            for desk in desks:
                print(f"budget {desk.budget:g}", *desk.openers(), sep="\n  ", file=sys.stderr)
        return [desk.count() for desk in desks]


def _pass(
    steps: Iterator[Step], desks: list[Desk], scenario: Scenario, options: argparse.Namespace
) -> None:
    begun, told = time.monotonic(), 0.0
    for step in steps:
        for desk in desks:
            desk.take(step)
        days = (step.now - scenario.start_unix_nano) / NANOSECONDS / DAY
        if days >= told + options.tell:
            told = days
            counts = ", ".join(f"{own.budget:g}: {own.opened} of {own.promised:.1f}"
                               for own in (desk.count() for desk in desks))  # fmt: skip
            minutes = (time.monotonic() - begun) / 60
            print(f"{days:6.2f} days in {minutes:5.1f} min; {counts}", file=sys.stderr, flush=True)


def table(counts: list[Count]) -> str:
    """Return the counts as a table of Markdown."""
    lines = [
        "| budget a day | promised | 95 % interval | widened by 1.5 | opened | held back "
        "| by rules |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {own.budget:g} | {own.promised:.1f} | {own.low} to {own.high} | "
        f"{own.low / WIDER:.1f} to {own.high * WIDER:.1f} | "
        f"{own.opened}{'' if own.inside else ' **outside**'} | {own.held_back} | {own.by_rules} |"
        for own in counts
    ]
    return "\n".join(lines)


def main() -> None:
    """Run, print, and write the page if asked to."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--nodes", type=int, default=32)
    options.add_argument("--gpus-per-node", type=int, default=8)
    options.add_argument("--models", help="hardware models of the fleet, by commas")
    options.add_argument("--days", type=float, default=7.0)
    options.add_argument("--hours", type=float, help="instead of days")
    options.add_argument("--period", type=int, default=60, help="seconds between readings")
    options.add_argument("--budgets", default="0.25,1,4", help="false incidents a day, by commas")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--tell", type=float, default=0.5, help="days between two lines")
    options.add_argument("--openers", action="store_true", help="list what opened incidents")
    options.add_argument("--json", action="store_true")
    options.add_argument("--page", help="name of the place in docs/benchmarks.md to write to")
    own = options.parse_args()
    begun = time.monotonic()
    counts = run(own)
    length = f"{own.days:g} days" if own.hours is None else f"{own.hours:g} hours"
    said = (
        f"{own.nodes} nodes of {own.gpus_per_node} GPUs, {length}, a reading every {own.period} s, "
        f"seed {own.seed}: {(time.monotonic() - begun) / 60:.0f} min on two cores."
    )
    if own.json:
        print(json.dumps([{**msgspec.to_builtins(one), "inside": one.inside} for one in counts]))
    else:
        print(f"{said}\n\n{table(counts)}")
    if own.page:
        between(own.page, f"{said}\n\n{table(counts)}")
    sys.exit(0 if all(one.inside for one in counts) else 1)


if __name__ == "__main__":
    main()
