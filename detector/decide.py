"""The decide stage: findings become incidents, and incidents are told of.

One step is one transaction: changes of incidents, outbox rows and consumed offsets are kept
together or not at all, so that a kill at any point neither loses a change nor tells it twice.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry

from detector.incidents.actions import Action
from detector.incidents.assess import Ranker, assess
from detector.incidents.casebook import Casebook
from detector.incidents.causes import Causes
from detector.incidents.changes import leading, reasons, telling
from detector.incidents.clock import StreamClock
from detector.incidents.database import StoreError
from detector.incidents.feedback import FeedbackStore
from detector.incidents.intake import Batch, Intake
from detector.incidents.lifecycle import follow_evidence
from detector.incidents.ranker import RunbookRanker
from detector.incidents.server import serve
from detector.incidents.settle import absorb, end_job, merge_symptoms
from detector.incidents.store import Store
from detector.incidents.telemetry import DecideMetrics
from detector.notify.outbox import Outbox
from detector.notify.post import Post
from detector.notify.teller import Teller
from forewarn.bus import Bus, Message, Producer, TopicName
from forewarn.config import Settings, state_directory
from forewarn.deadletter import DeadLetters
from forewarn.incident import Incident
from runbooks import Table, hardware_class
from runbooks import load as load_runbooks

logger = logging.getLogger(__name__)
TOPICS: tuple[TopicName, ...] = ("inventory", "events", "findings")
POLL_SECONDS = 0.5  # also the longest that a stop or a tick waits
MAX_MESSAGES = 1000
INVENTORY_SECONDS = 10.0  # for reading what is where before the first finding is placed


class Decide:
    """Joins findings into incidents; safe for threads, one step or action at a time.

    `clock` is the wall clock: it carries the stream's clock on while nothing comes, and stamps
    what is told. `on_notes` is called when there may be something to deliver.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        table: Table,
        producer: Producer,
        registry: CollectorRegistry,
        ranker: Ranker | None = None,
        clock: Callable[[], int] = time.time_ns,
        on_notes: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._on_notes = store, on_notes
        self._ranker = ranker or RunbookRanker(table)
        self._causes = Causes(table.living())
        self._clock = StreamClock(clock)
        self._intake = Intake(DeadLetters(producer, "decide", registry, clock))
        self.outbox = Outbox(store.database)
        self.feedback = FeedbackStore(store.database)
        self._teller = Teller(settings, self.outbox, clock)
        self._metrics = DecideMetrics(registry)
        self._lock = threading.RLock()
        self._incidents = {own.id: own for own in store.unfinished()}
        self._metrics.show(self._incidents.values())

    def step(self, messages: Sequence[Message]) -> list[Incident]:
        """Take messages (none is a tick); return the incidents that changed.

        Raises StoreError if the step could not be kept; nothing of it has happened then.
        """
        with self._lock:
            for message in messages:
                self._clock.saw(message.append_time_unix_nano)
                self._metrics.messages.labels(message.topic).inc()
            return self._keep(self._intake.take(messages))

    def learn(self, messages: Sequence[Message]) -> None:
        """Take inventory messages only, before the first step."""
        with self._lock:
            self._intake.take(messages)

    def _keep(self, batch: Batch) -> list[Incident]:
        book = Casebook(
            self._incidents.values(), self._store, self._causes, self._intake.inventory,
            self._clock.now(),
        )  # fmt: skip
        with self._store.database.transaction():
            for finding in batch.findings:
                book.take(finding)
            for end in batch.ends:
                end_job(book, end)
            self._settle(book)
            changed = [self._tell(book, own) for own in book.changed()]
            self._store.save_offsets(batch.offsets)
        self._take_over(book, changed)
        return changed

    def _settle(self, book: Casebook) -> None:
        counts = self.feedback.counts()
        for changed in book.changed():
            incident = book.after[changed.id]
            inventory = self._intake.inventory(incident.cluster)
            incident = merge_symptoms(book, incident, self._causes, inventory)
            if incident.state != "merged":
                incident = assess(incident, self._ranker, inventory, counts)
                incident = absorb(incident, self._causes)
            book.put(incident)
        for incident in list(book.after.values()):
            book.put(follow_evidence(incident, book.now))

    def _tell(self, book: Casebook, incident: Incident) -> Incident:
        """Write one changed incident, and its notes where the change is one to be told."""
        before = book.before.get(incident.id)
        words = reasons(before, incident)
        kind = telling(words)
        if kind is not None and before is not None:
            incident = msgspec.structs.replace(incident, seq=before.seq + 1)
        self._store.save(incident)
        if kind is not None:
            self._teller.tell(incident, kind, words)
            self.feedback.keep_ranking(incident, self._hardware(incident))
        return incident

    def _hardware(self, incident: Incident, entity: str = "") -> str:
        """Return the hardware class that counts of a cause at `entity` are kept by."""
        place = entity or (leading(incident) or ("", incident.entity))[1]
        return hardware_class(self._intake.inventory(incident.cluster), place)

    def _take_over(self, book: Casebook, changed: list[Incident]) -> None:
        """The step is kept: what it drafted becomes what is."""
        self._metrics.joined.inc(book.joined)
        for incident in changed:
            if incident.id not in book.before:
                self._metrics.opened(incident)
            self._incidents[incident.id] = incident
            if incident.state == "closed":
                del self._incidents[incident.id]
        if changed:
            self._metrics.show(self._incidents.values())
            self._on_notes()

    def act(self, prefix: str, action: Action) -> Incident:
        """Do to an incident what a person asks for; kept and told like every other change.

        Raises:
            StoreError: if there is no such incident.
            ActionError: if that cannot be done to it.

        """
        with self._lock:
            found = self._store.get(prefix)
            if found is None:
                raise StoreError(f"no incident {prefix!r}")
            now = max(self._clock.now(), found.updated_at_unix_nano)
            known = {**self._incidents, found.id: found}
            book = Casebook(known.values(), self._store, self._causes, self._intake.inventory, now)
            with self._store.database.transaction():
                book.put(action(found, now))
                self._count(book, found)
                self._settle(book)
                changed = [self._tell(book, own) for own in book.changed()]
            self._take_over(book, changed)
            return book.after[found.id] if not changed else changed[0]

    def _count(self, book: Casebook, before: Incident) -> None:
        after = book.after[before.id]
        for word in after.feedback[len(before.feedback) :]:
            named = (own.entity for own in after.hypotheses if own.entry == word.entry)
            self.feedback.add(before.id, word, self._hardware(after, next(named, after.entity)))


def run(bus: Bus, settings: Settings, stop: threading.Event, registry: CollectorRegistry) -> None:
    """Run the stage until `stop`: consume, serve the API and /metrics, deliver.

    Raises:
        ForewarnError: if the database is held by another decide, or a setting cannot be used.

    """
    with contextlib.ExitStack() as held:
        store = Store(database_path(settings))
        held.callback(store.close)
        producer = bus.producer()
        held.callback(producer.close)
        post = Post(settings, Outbox(store.database), producer, registry)
        table = load_runbooks(map(Path, settings.decide.runbook_directories))
        decide = Decide(settings, store, table, producer, registry, on_notes=post.wake)
        held.enter_context(post)
        held.enter_context(serve(decide, store, registry, settings.decide.listen))
        _consume(bus, settings, store, decide, stop)


def _consume(
    bus: Bus, settings: Settings, store: Store, decide: Decide, stop: threading.Event
) -> None:
    """Take messages until `stop`; what a broker refuses is said and tried again."""
    # The embedded bus is born with the process: offsets of an earlier one mean nothing to it, and
    # what is read twice is recognised by id and seq.
    start = store.offsets() if settings.bus.kind == "kafka" else {}
    load_inventory(bus, decide, stop)
    start = {at: offset for at, offset in start.items() if at[0] != "inventory"}
    consumer = bus.consumer(TOPICS, None, start=start, from_beginning=TOPICS)
    try:
        while not stop.is_set():
            decide.step(consumer.poll(POLL_SECONDS, MAX_MESSAGES))
    finally:
        consumer.close()


def load_inventory(bus: Bus, decide: Decide, stop: threading.Event) -> None:
    """Read the compacted inventory first: without it no finding can be placed under its job."""
    consumer = bus.consumer(("inventory",), None, from_beginning=("inventory",))
    end = time.monotonic() + INVENTORY_SECONDS
    try:
        while not stop.is_set() and time.monotonic() < end:
            decide.learn(consumer.poll(POLL_SECONDS, MAX_MESSAGES))
            if consumer.lag() == 0:
                return
    finally:
        consumer.close()
    logger.warning("inventory not read whole within %g s", INVENTORY_SECONDS)


def database_path(settings: Settings) -> Path:
    """Return where decide keeps its database."""
    if settings.decide.database:
        return Path(settings.decide.database).expanduser()
    return state_directory() / "decide.sqlite"
