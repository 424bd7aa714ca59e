"""The engine: messages in, findings out. Event time orders everything; no clock, no I/O.

Per-record families (event, NaN of progress) speak on arrival; everything else when its tick of one
second closes. Messages are taken one by one as they come, so the size of a poll does not matter.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from prometheus_client import CollectorRegistry

from detector.bundle import Model
from detector.clocks import Clocks
from detector.comparing import Comparing
from detector.decode import Decoder, Item
from detector.families import Families
from detector.groups import Groups
from detector.presence import Presence
from detector.regimes import Regimes
from detector.scoring import Listener, Scoring
from detector.series import Block, Ints, Series
from detector.telling import Telling
from detector.ticks import AFTER_SECONDS, Tick, Ticks
from detector.verdict.judge import Judge
from detector.verdict.ledger import Ledger
from detector.verdict.spending import Spending
from detector.waves import Waves, rounds
from forewarn import codes, wire
from forewarn import entity as entities
from forewarn.bus import Message
from forewarn.deadletter import DeadLetters
from forewarn.errors import ForewarnError, WireError
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Event, Finding

LEARN_SECONDS = 60
BOOT = "node.boot_id"  # a boot that was announced explains itself


class Engine:
    """Detects; feed it messages in the order of the bus: each partition's own, merged by append
    time.

    `seed` is for families that draw; none of today's does. `budget` is that of false incidents a
    day: what is weaker than a finding is offered as far as it could be spent on it. Raises nothing
    on bad input: that is counted and dead-lettered, and the rest goes on.
    """

    def __init__(
        self, cluster: str, registry: CollectorRegistry, dead: DeadLetters, seed: int = 0,
        budget: float = 1.0,
    ) -> None:  # fmt: skip
        self.cluster, self.seed, self._dead = cluster, seed, dead
        self.telling = Telling(registry)
        self.series, self.inventory, self._ledger = Series(), Inventory(), Ledger()
        self._groups = Groups(self.series, self.inventory)
        self.families = Families(cluster, self.series, self.inventory, self._ledger)
        self._judge = Judge(
            cluster, self.series, self.inventory, self._groups, self._ledger, self._rebase,
            self.families.rates,
        )  # fmt: skip
        self._scoring = Scoring(self.series, self.families, self._judge)
        self._comparing = Comparing(
            cluster, self.series, self.inventory, self._groups, self._ledger, self.families.peers,
            self.families.population,
        )  # fmt: skip
        self._regimes = Regimes(
            self.series, self.inventory, self._groups, self._rebase, self._renew
        )
        self._decoder = Decoder(self.series, dead, self.telling)
        self._waves = Waves(self.series, self.telling, self._refuse)
        self._spending = Spending(
            self.families.rates, self.series, self._judge, self.families.peers, budget
        )
        self._clocks = Clocks(cluster, self._ledger)
        self._presence = Presence(self.families.silence, self._clocks, self.families.events)
        self._ticks = Ticks()
        self._refused: set[tuple[str, str]] = set()
        self._model_id = ""
        self._minute: int | None = None
        self.observer: Callable[[int], None] | None = None  # told of the second of each closed tick

    def adopt(self, model: Model) -> None:
        """Take over a trained model; findings name it from now on."""
        self.families.adopt(model.arrays)
        self._model_id = model.card.model_id

    def listen(self, listener: Listener) -> None:
        """Tell `listener` of every score from now on: what was expected of which sample."""
        self._scoring.listener = listener

    def feed(self, messages: Sequence[Message]) -> list[Finding]:
        """Take messages; return the findings that opened, changed materially or closed."""
        out: list[Finding] = []
        for message in messages:
            if message.topic != "inventory":  # read apart, and of any age
                self._ticks.saw(message.append_time_unix_nano)
            out += self._take(message)
            for tick in self._ticks.ready():
                out += self._close(tick)
        return self._count(out)

    def tick(self, now_unix_nano: int) -> list[Finding]:
        """Say that the broker's clock reads `now` and nothing more is waiting before it.

        For the time when nobody sends: what is silent then would else be seen only afterwards.
        """
        idle = max(0, now_unix_nano - self._ticks.newest) / NANOSECONDS
        out = [finding for tick in self._ticks.drain() for finding in self._close(tick)]
        if self._ticks.closed is not None:
            out += self.families.silence.on_clock(self._ticks.closed + idle)
        return self._count(out)

    def flush(self) -> list[Finding]:
        """End: close the ticks and findings that are open."""
        out = [finding for tick in self._ticks.drain() for finding in self._close(tick)]
        seconds = float(self._ticks.closed or 0)
        closed = (self._ledger.close(key, seconds) for key in self._ledger.keys())  # noqa: SIM118
        out += [finding for finding in closed if finding is not None]
        return self._count(out)

    def _take(self, message: Message) -> list[Finding]:
        try:
            match message.topic:
                case "frames":
                    return self._take_frame(message)
                case "jobs":
                    return self._take_job_frame(message)
                case "events":
                    return self._take_event(message)
                case "inventory":
                    return self._take_inventory(message)
        except WireError as error:
            self._dead.send(error.reason, str(error), message)
        except ForewarnError as error:
            self._dead.send("bad_value", str(error), message)
        return []

    def _take_frame(self, message: Message) -> list[Finding]:
        item = self._decoder.read(message)
        if item is None:
            return []
        if self._ticks.add_frame(item):
            self.telling.late.inc()
        found = self._clocks.on_frame(item)
        return [found] if found is not None else []

    def _take_job_frame(self, message: Message) -> list[Finding]:
        item = self._decoder.read(message)
        if item is None:
            return []
        self._ticks.add_job_frame(item)
        found = (
            self.families.progress.on_number(own, name, value, item.seconds)
            for own, values in watched(item).items()
            for name, value in values.items()
        )
        return [finding for finding in found if finding is not None]

    def _take_event(self, message: Message) -> list[Finding]:
        event = wire.decode_event(message.value)
        if self.families.events.repeated(event):
            self.telling.duplicates.inc()
            return []
        self.telling.events.inc()
        self._ticks.add_event(event, message.append_time_unix_nano)
        self.families.silence.on_event(event)
        seconds = event.time_unix_nano / NANOSECONDS
        if codes.namespace(event.code) == BOOT and self.families.silence.planned(
            entities.root(event.entity), seconds
        ):
            return []
        return self.families.events.on(event, self.inventory.job_of(event.entity))

    def _take_inventory(self, message: Message) -> list[Finding]:
        if not message.value:
            return []
        item = wire.decode_inventory(message.value)
        self._regimes.on_inventory(item)
        if not item.removed:
            return []
        seconds = item.time_unix_nano / NANOSECONDS
        gone = self.families.silence.forget(item.entity, seconds)
        return [] if gone is None else [gone]

    def _close(self, tick: Tick) -> list[Finding]:
        """Work through one tick in canonical order: events, node frames, job frames, deadlines."""
        seconds = float(tick.second)
        out = self._states(tick.events)
        out += self._presence.on_tick(tick)
        self._regimes.refresh(seconds, float(2 * tick.width if tick.width > 1 else 1))
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            for items in (tick.frames, tick.job_frames):
                out += self._score(items)
            out += self._comparing.on_tick(seconds)
            out += self._steps(tick)
            out += self._deadlines(tick.second)
        if self.observer is not None:
            self.observer(tick.second)
        self.telling.ticks.inc()
        self.telling.tick_delay.set(max(0.0, self._ticks.newest / NANOSECONDS - seconds))
        return out

    def _states(self, events: list[Event]) -> list[Finding]:
        out: list[Finding] = []
        for event in sorted(events, key=lambda e: (e.time_unix_nano, e.node, e.source, e.seq)):
            self._regimes.on_event(event)
            namespace, _, state = event.code.lower().partition(":")
            if namespace == "job.state" and entities.kind(event.entity) == "job":
                seconds = event.time_unix_nano / NANOSECONDS
                out += self.families.progress.on_state(event.entity, state, seconds)
                if not state.endswith(("_begin", "_end")):
                    out += self._comparing.on_job(event.entity, seconds)
                    out += self.families.stages.on_job(event.entity, seconds)
        return out

    def _score(self, items: list[Item]) -> list[Finding]:
        return [
            finding
            for turn in rounds(items)
            for wave in self._waves.of(turn)
            for finding in self._scoring.score(wave)
        ]

    def _steps(self, tick: Tick) -> list[Finding]:
        out: list[Finding] = []
        for item in sorted(tick.job_frames, key=lambda i: (i.seconds, i.stream, i.frame.seq)):
            late = max(0.0, tick.second - AFTER_SECONDS - item.seconds)
            for entity, values in watched(item).items():
                if "job_step_seconds" in values:
                    self._regimes.on_step(entities.last_name(entity), item.seconds)
                out += self.families.progress.on_values(
                    entity, values, item.seconds, item.frame.node, late
                )
        return out

    def _reached(self, job: str, node: str) -> tuple[float, float]:
        """Return up to when a node, and the latest of it and all nodes of a job, have reported."""
        places = self.inventory.ranks(entities.last_name(job)).values()
        nodes = {entities.last_name(p.node) if "/" in p.node else p.node for p in places}
        own = self._ticks.node(node)
        return float(own), float(max([own, *map(self._ticks.node, nodes)]))

    def _deadlines(self, second: int) -> list[Finding]:
        minute = second // LEARN_SECONDS
        if self._minute is not None and minute > self._minute:
            self._learn(float(second))
        self._minute = minute
        seconds = float(second)
        return [
            *self.families.progress.on_deadline(seconds, self._reached),
            *self.families.events.on_deadline(seconds),
            *self._clocks.on_deadline(seconds),
            *self.families.devices.on_tick(seconds),
            *self.families.resistance.on_tick(seconds),
            *self.families.stages.on_tick(seconds),
            *self._scoring.on_deadline(seconds),
        ]

    def _learn(self, seconds: float) -> None:
        """Once a minute: slow statistics, tails, and what /metrics says of readiness."""
        for block in self.series.blocks:
            self._scoring.learn(block)
        tails = self.families.tails
        self.telling.surprising.set(tails.rare / max(1, tails.seen))
        for signal, share in tails.calibration().items():
            self.telling.calibration.labels(signal).set(share)
        tails.rebuild()
        self._spending.learn(float(LEARN_SECONDS))
        self._ledger.forget(seconds)
        counts = [self.families.band.readiness(block) for block in self.series.blocks]
        ready, of = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
        self.telling.ready.set(ready / max(1, of))
        self.telling.series.set(len(self.series))

    def _rebase(self, block: Block, rows: Ints) -> None:
        for scorer in self.families.scorers:
            scorer.rebase(block, rows)
        self._comparing.rebase(block, rows)
        self._judge.persistence.forget(block, rows)

    def _renew(self, block: Block, rows: Ints) -> None:
        for scorer in self.families.scorers:
            scorer.renew(block, rows)
        self._comparing.renew(block, rows)
        self.families.frozen.renew(block, rows)
        self._judge.persistence.forget(block, rows)

    def _refuse(self, item: Item, signal: str) -> None:
        """Dead-letter a frame with a value that may not be, once per (node, signal)."""
        key = (item.frame.node, signal)
        if key in self._refused:
            return
        self._refused.add(key)
        text = f"frame of {item.frame.node}: {signal} is not finite; it is taken as failed"
        self._dead.send("bad_value", text, item.message)

    def _count(self, findings: list[Finding]) -> list[Finding]:
        for finding in findings:
            if finding.seq == 1:
                self.telling.findings.labels(finding.family, finding.movement).inc()
        self.telling.open.set(len(self._ledger))
        return [self._spending.price(self._signed(finding)) for finding in findings]

    def _signed(self, finding: Finding) -> Finding:
        """Name the trained model in the findings of families that have one."""
        if not self._model_id or finding.family not in {"band", "context"}:
            return finding
        return msgspec.structs.replace(finding, model_id=f"{finding.model_id}@{self._model_id}")


def watched(item: Item) -> dict[str, dict[str, float]]:
    """Return what a frame says of jobs: entity -> signal -> value, where the reading is OK."""
    found: dict[str, dict[str, float]] = {}
    if not item.plan.watched:
        return found
    values = np.frombuffer(item.frame.values, "<f8")
    for position, entity, name in item.plan.watched:
        if not item.frame.outcome or item.frame.outcome[position] == 0:
            found.setdefault(entity, {})[name] = float(values[position])
    return found
