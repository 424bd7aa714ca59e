"""The agent of one node: reads on schedule, frames, spools; never stopped by one bad sensor."""

import itertools
import logging
import threading
import time
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

from prometheus_client import CollectorRegistry

from exporters import machine
from exporters.announcer import Announcer
from exporters.collector import Collector, Host, Measurement
from exporters.devices import Compound
from exporters.exposition import Server
from exporters.outlet import Outlet
from exporters.own import Health, OwnCost
from exporters.registry import build
from exporters.rounds import Batch, Rounds
from exporters.sample import Sample, sample
from exporters.spool import Spool
from exporters.streams import Streams
from forewarn import entity as entities
from forewarn.bus import Producer
from forewarn.config import Settings, state_directory
from forewarn.records import Outcome

logger = logging.getLogger(__name__)
SOURCE = "agent"
WAKE_SECONDS = 0.5
STOP_SECONDS = 2.0
SETTLE_SECONDS = 1.0


class Agent:
    """Reads the sensors of one node and publishes frames, events and inventory.

    One frame a tick holds the collectors that were due and answered within a quarter of it; a
    slower one sends its own frame, from source `agent/<collector>`, at its own time. So the
    stream sees one frame a second and node, and a slow sensor delays nobody.
    """

    def __init__(
        self,
        settings: Settings,
        producer: Producer,
        registry: CollectorRegistry,
        host: Host | None = None,
        collectors: Iterable[Collector] | None = None,
    ) -> None:
        own = settings.agent
        self._settings, self._registry = settings, registry
        self._node = own.node_name()
        self._host = host or Host(entities.path("node", self._node), interfaces=own.interfaces)
        self._spool = Spool(producer, own.buffer_bytes)
        self._announcer = Announcer(settings.cluster, self._spool, own.inventory_seconds)
        boot_id = machine.boot_id(self._host.proc)
        self.outlet = Outlet(
            settings.cluster, self._node, boot_id, self._spool, self._announcer, registry
        )
        chosen = build(self._host, own.disable) if collectors is None else list(collectors)
        self._compounds = [own for own in chosen if isinstance(own, Compound)]
        self._rounds = Rounds([*self._own_collectors(), *chosen], own.period_seconds)
        state = Path(own.state_directory) if own.state_directory else state_directory()
        self.port = 0  # where /metrics is served, once it is
        self._streams = Streams(settings.agent, self._host, state, self.outlet, registry)

    def failures(self, collector: str) -> int:
        """Return how often a collector has failed; as `agent_collector_failures_total` tells."""
        return self._rounds.workers[collector].failures

    def _own_collectors(self) -> list[Collector]:
        return [
            OwnCost(self._host, self._spool, self.outlet.admission),
            Health(self._host, lambda: self._rounds.workers),
        ]

    def run(self, stop: threading.Event) -> None:
        """Read until `stop` is set, then end within five seconds. Raises ConfigError.

        The producer is flushed but left open: it belongs to the caller.
        """
        server = Server(self._settings.agent.listen, self._registry)
        self.port = server.port
        self._describe()
        self._streams.start({own.name: own.stream(self.outlet) for own in self._compounds})
        try:
            self._loop(stop)
        finally:
            self._streams.stop()
            self._rounds.close()
            self._spool.close(STOP_SECONDS)
            self._streams.settle()
            server.close()

    def _loop(self, stop: threading.Event) -> None:
        period = self._settings.agent.period_seconds
        begin, tick = time.monotonic(), 0
        while not stop.is_set():
            self.tick(tick)
            # After a suspended second the ticks missed are left out, not caught up.
            tick = max(tick + 1, int((time.monotonic() - begin) / period))
            self._late(begin + tick * period, stop)

    def tick(self, tick: int) -> None:
        """Read what is due at this tick and send one frame of it."""
        now = time.time_ns()
        batches = [*self._rounds.begin(tick), *self._rounds.gather()]
        batches.sort(key=attrgetter("collector"))  # else the order of finishing makes a layout
        admitted = [self._admit(batch) for batch in batches]
        self.outlet.frame(SOURCE, now, list(itertools.chain(*admitted)))
        self._announcer.announce()

    def _late(self, until: float, stop: threading.Event) -> None:
        """Until the next tick, send what slow collectors hand in, each at its own time."""
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            for batch in self._rounds.wait(min(left, WAKE_SECONDS)):
                measurements = self._admit(batch)
                source = f"{SOURCE}/{batch.collector}"
                self.outlet.frame(source, batch.started_unix_nano, measurements)

    def _admit(self, batch: Batch) -> list[Measurement]:
        measurements = self.outlet.admission.admit(batch.collector, batch.measurements)
        self.outlet.show(batch.collector, measurements, batch.due)
        self._tell(batch)
        return measurements

    def _tell(self, batch: Batch) -> None:
        """Send what a collector saw happen, and declare what it watches."""
        for m in batch.measurements:
            if m.signal in batch.events:
                watched = (batch.events[m.signal],)
                self.outlet.announcer.declare(batch.collector, m.entity, watched)
        for notice in batch.notices:
            self.outlet.event(
                notice.entity, notice.code, batch.started_unix_nano, notice.severity,
                notice.text, batch.collector,
            )  # fmt: skip

    def _describe(self) -> None:
        facts = machine.attributes(self._host)
        self._announcer.describe(self._host.entity, {**facts, **self._settings.agent.attributes})

    def once(self) -> list[Sample]:
        """Read every collector and return all samples; nothing is published.

        What needs two readings is read again after a second. A collector that hangs is waited
        for until its deadline.
        """
        found: dict[tuple[str, str], Sample] = {}
        for number in range(2):
            batches = self._read_all(number)
            found.update({(s.entity, s.signal): s for b in batches for s in _samples(b, found)})
            if number == 0:
                time.sleep(SETTLE_SECONDS)
        self._rounds.close()
        self._spool.close(0.0)
        return sorted(found.values(), key=_of_the_node_first)

    def _read_all(self, number: int) -> list[Batch]:
        # A tick further off than any period: everything is due.
        batches = self._rounds.begin(number * 1_000_000)
        longest = max(w.left_seconds() for w in self._rounds.workers.values())
        return batches + self._rounds.gather(longest + WAKE_SECONDS)


def _of_the_node_first(own: Sample) -> tuple[bool, str, str]:
    """Return what samples are sorted by: the agent's word on itself is asked for last."""
    return entities.kind(own.entity) == "agent", own.entity, own.signal


def _samples(batch: Batch, found: dict[tuple[str, str], Sample]) -> list[Sample]:
    """Return samples of a batch; one that tells nothing new does not replace an earlier one."""
    return [
        sample(m, batch.started_unix_nano)
        for m in batch.measurements
        if m.outcome is not Outcome.NOT_DUE or (m.entity, m.signal) not in found
    ]
