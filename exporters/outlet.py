"""The one way out of the agent: what is read is shown, announced, framed and spooled here."""

from collections import Counter as Tally
from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry, Counter

from exporters.admission import Admission
from exporters.announcer import Announcer
from exporters.collector import Measurement
from exporters.exposition import Latest
from exporters.framing import Framer
from exporters.mask import mask, shorten
from exporters.spool import Spool
from forewarn import wire
from forewarn.bus import TopicName
from forewarn.deadletter import DeadLetters
from forewarn.records import Event, Severity


class Outlet:
    """Used by the agent and by its streams, each source from one thread."""

    def __init__(
        self,
        cluster: str,
        node: str,
        boot_id: str,
        spool: Spool,
        announcer: Announcer,
        registry: CollectorRegistry,
    ) -> None:
        self.node, self.boot_id = node, boot_id
        self.spool, self.announcer = spool, announcer
        self.admission = Admission()
        self.latest = Latest()
        self.dead = DeadLetters(spool, f"agent:{node}", registry)
        self._cluster = cluster
        self._framer = Framer(cluster, node, boot_id)
        registry.register(self.latest)
        self._readings = Counter(
            "forewarn_readings",
            "Readings by outcome: ok, not_due, unsupported, failed.",
            ["outcome"],
            registry=registry,
        )

    def show(
        self, source: str, measurements: Sequence[Measurement], due: Iterable[str] = ()
    ) -> None:
        """Put readings on /metrics and learn from them for the inventory.

        Signals that were due and have no reading are taken off /metrics.
        """
        for outcome, count in Tally([m.outcome for m in measurements]).items():
            self._readings.labels(outcome.name.lower()).inc(count)
        self.latest.update(source, measurements, due)
        self.announcer.observe(source.partition(":")[0], measurements)

    def frame(
        self,
        source: str,
        time_unix_nano: int,
        measurements: Sequence[Measurement],
        topic: TopicName = "frames",
        key: str = "",
    ) -> None:
        """Send a frame; nothing is sent where there is nothing to tell."""
        if measurements:
            frame = self._framer.frame(source, time_unix_nano, measurements)
            data = wire.encode_frame(frame)
            self.spool.send(topic, key or self.node, data, len(measurements))

    def event(
        self,
        entity: str,
        code: str,
        time_unix_nano: int,
        severity: Severity,
        text: str,
        source: str,
        seq: int = 0,
    ) -> None:
        """Send an event; its text is masked and cut here.

        Without a sequence of its source the time is one: it tells a second event from one that
        is read twice, and no restart of the agent repeats it.
        """
        event = Event(
            self._cluster, entity, code, time_unix_nano, severity, shorten(mask(text)),
            self.node, source, self.boot_id, seq or time_unix_nano,
        )  # fmt: skip
        self.spool.send("events", self.node, wire.encode_event(event))
