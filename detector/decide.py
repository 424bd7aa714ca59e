"""The decide stage: findings become incidents, and incidents are told of.

One step is one transaction: changes of incidents, outbox rows and consumed offsets are kept
together or not at all, so that a kill at any point neither loses a change nor tells it twice.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry

from detector.incidents.actions import Action
from detector.incidents.assess import Ranker, assess
from detector.incidents.budget import Account
from detector.incidents.casebook import Casebook
from detector.incidents.causes import Causes
from detector.incidents.changes import leading, reasons, telling
from detector.incidents.charges import ChargeStore
from detector.incidents.clock import StreamClock
from detector.incidents.consume import consume, load_inventory
from detector.incidents.database import StoreError
from detector.incidents.feedback import FeedbackStore
from detector.incidents.intake import Batch, Intake
from detector.incidents.lifecycle import follow_evidence
from detector.incidents.raising import gather_below, gather_by_cause, raise_shared
from detector.incidents.ranker import RunbookRanker
from detector.incidents.seat import Knowledge
from detector.incidents.server import serve
from detector.incidents.settle import absorb, draw_symptoms, end_job
from detector.incidents.store import Store
from detector.incidents.telemetry import DecideMetrics
from detector.incidents.unheard import Rounds, mark_unheard
from detector.incidents.waiting import Waiting
from detector.notify.outbox import Outbox
from detector.notify.post import Post
from detector.notify.teller import Teller
from forewarn.bus import Bus, Message, Producer
from forewarn.config import Settings, state_directory
from forewarn.deadletter import DeadLetters
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, Finding
from runbooks import Counts, Table, hardware_class
from runbooks import load as load_runbooks

RANK_AGAIN_SECONDS = 10  # where only readings moved; one ranking of 100 findings takes long


class Decide:
    """Joins findings into incidents; safe for threads, one step or action at a time.

    `clock` is the wall clock: it carries the stream's clock on while nothing comes, and stamps
    what is told. `on_notes` is called when there may be something to deliver. `dead` is given
    where something else shares the registry and buries too.
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
        dead: DeadLetters | None = None,
    ) -> None:
        self._store, self._on_notes = store, on_notes
        self._ranker = ranker or RunbookRanker(table)
        self._clock = StreamClock(clock)
        self._intake = Intake(dead or DeadLetters(producer, "decide", registry, clock))
        self._known = Knowledge(Causes(table.living()), self._intake.inventory)
        self._feedback = FeedbackStore(store.database)
        self._charges = ChargeStore(store.database)
        self._account = Account(settings.detect.budget, self._charges.competing())
        self._outbox = Outbox(store.database, clock)
        self._teller = Teller(settings, self._outbox, clock)
        self._metrics = DecideMetrics(registry)
        self._lock = threading.RLock()
        self._incidents = {own.id: own for own in store.unfinished()}
        self._waiting = Waiting(store.places.waiting())
        self._rounds = Rounds(clock)
        self._ranked: dict[str, int] = {}  # incident -> when its causes were ranked last, ns
        self._metrics.show(self._incidents.values())

    @property
    def budget(self) -> float:
        """Return the budget: false incidents a day."""
        return self._account.budget

    def step(self, messages: Sequence[Message]) -> list[Incident]:
        """Take messages (none is a tick); return the incidents that changed.

        Raises:
            StoreError: if the step could not be kept; nothing of it has happened then.

        """
        with self._lock:
            for message in messages:
                self._clock.saw(message.append_time_unix_nano)
                self._metrics.messages.labels(message.topic).inc()
            return self._keep(self._intake.take(messages))

    def learn(self, messages: Sequence[Message]) -> None:
        """Take inventory messages before the first step."""
        with self._lock:
            self._intake.take(messages)

    def act(self, id_: str, action: Action) -> Incident:
        """Do to an incident what a person asks for; it is kept and told like any other change.

        Raises:
            StoreError: if there is no such incident, or the change could not be kept.
            ActionError: if that cannot be done to it.

        """
        with self._lock:
            found = self._incidents.get(id_) or self._store.get(id_)
            if found is None:
                raise StoreError(f"no incident {id_!r}")
            now = max(self._clock.now(), found.updated_at_unix_nano)
            book = self._book(now, found)
            with self._store.database.transaction():
                book.put(action(found, now))
                self._count(found, book.after[found.id])
                changed = self._finish(book)
            self._take_over(book, changed)
            return next(own for own in changed if own.id == found.id)

    def _book(self, now: int, *more: Incident) -> Casebook:
        known = {own.id: own for own in (*self._incidents.values(), *more)}
        waiting, spent = self._waiting.copy(), self._account.draft()
        return Casebook(known.values(), self._store, self._known, now, waiting, spent)

    def _keep(self, batch: Batch) -> list[Incident]:
        book = self._book(self._clock.now())
        with self._store.database.transaction():
            works = [work for event in batch.works if (work := book.waiting.plan(event))]
            released = book.waiting.released(book.now)
            # What is said in so many words first: what is only measured finds it there.
            told = sorted(batch.findings, key=lambda own: own.family != "event")
            for finding in (*works, *told, *released):
                self._take(book, finding)
            for end in batch.ends:
                end_job(book, end)
            if self._rounds.is_due():
                mark_unheard(book, self._store)
                self._outbox.prune()
            changed = self._finish(book)
            self._store.save_offsets(batch.offsets)
        self._take_over(book, changed)
        return changed

    def _take(self, book: Casebook, finding: Finding) -> None:
        if book.take(finding) and self._known.seat(finding).kind == "hardware":
            gather_below(book, finding, self._known)
            raise_shared(book, finding, self._known)

    def _finish(self, book: Casebook) -> list[Incident]:
        """Settle what changed, and write and tell it."""
        for incident in book.changed():
            draw_symptoms(book, incident, self._known)
        counts = self._feedback.counts()
        for incident in book.changed():
            if self._is_due(book.before.get(incident.id), incident, book.now):
                self._judge(book, incident, counts)
        if book.changed():
            for id_ in gather_by_cause(book, self._known):
                self._judge(book, book.after[id_], counts)
        for incident in list(book.after.values()):
            book.after[incident.id] = follow_evidence(incident, book.now)
        # What others were merged into is written first: their findings are placed there.
        order = sorted(book.changed(), key=lambda own: bool(own.merged_into))
        changed = [self._write(book, own) for own in order]
        self._store.places.keep(
            {
                key: msgspec.structs.replace(own, incident=book.home(own.incident))
                for key, own in book.places.items()
            }
        )
        self._store.places.save_waiting(*book.waiting.since(self._waiting))
        self._charges.save(book.spent.charges.values(), book.now)
        return changed

    def _is_due(self, before: Incident | None, after: Incident, now: int) -> bool:
        """Say whether the causes are to be ranked anew: at once where something came or went."""
        if before is None or _is_new(before, after):
            return True
        again = self._ranked.get(after.id, 0) + RANK_AGAIN_SECONDS * NANOSECONDS
        return after.evidence is not before.evidence and now >= again

    def _judge(self, book: Casebook, incident: Incident, counts: Counts) -> None:
        """Rank the causes of an incident that goes on."""
        if incident.state != "merged":
            book.ranked.add(incident.id)
            inventory = self._intake.inventory(incident.cluster)
            judged = assess(incident, self._ranker, inventory, counts)
            book.revise(absorb(judged, self._known.causes))

    def _write(self, book: Casebook, incident: Incident) -> Incident:
        """Write one changed incident, and its notes where the change is one to be told."""
        before = book.before.get(incident.id)
        words = reasons(before, incident)
        kind = telling(words)
        if kind is not None and before is not None:
            incident = msgspec.structs.replace(incident, seq=before.seq + 1)
        self._store.save(incident, before, book.home(incident.id))
        if kind is not None:
            self._teller.tell(incident, kind, words)
            place = (leading(incident) or ("", ""))[1]
            self._feedback.keep_ranking(incident, self._hardware(incident, place))
        return incident

    def _hardware(self, incident: Incident, entity: str) -> str:
        """Return the class of hardware that counts of a cause at `entity` are kept by."""
        inventory = self._intake.inventory(incident.cluster)
        return hardware_class(inventory, entity or incident.entity)

    def _count(self, before: Incident, after: Incident) -> None:
        for word in after.feedback[len(before.feedback) :]:
            named = (own.entity for own in after.hypotheses if own.entry == word.entry)
            self._feedback.add(before.id, word, self._hardware(after, next(named, "")))

    def _take_over(self, book: Casebook, changed: list[Incident]) -> None:
        """The step is kept: what it drafted becomes what is."""
        self._waiting = book.waiting
        self._account.take(book.spent.charges.values())
        for own in book.spent.charges.values():
            self._metrics.charges.labels("opened" if own.incident else "held_back").inc()
        self._account.drop({own.id for own in changed if is_no_charge(own)})
        self._metrics.joined.inc(book.joined)
        self._ranked.update(dict.fromkeys(book.ranked, book.now))
        for incident in changed:
            if incident.id not in book.before:
                self._metrics.opened(incident)
            self._incidents[incident.id] = incident
            if incident.state in {"closed", "merged"}:
                del self._incidents[incident.id]
                self._ranked.pop(incident.id, None)
            if incident.state == "closed":
                self._known.forget(incident)
        if changed:
            self._metrics.show(self._incidents.values())
            self._on_notes()


def is_no_charge(incident: Incident) -> bool:
    """Say whether an incident does not count as a false one: confirmed, or part of another."""
    return incident.state == "merged" or any(
        own.verdict == "confirmed" for own in incident.feedback
    )


def _is_new(before: Incident, after: Incident) -> bool:
    """Say whether a finding came, went or became graver, or somebody said something."""
    if (after.feedback, after.jobs) != (before.feedback, before.jobs):
        return True
    return after.evidence is not before.evidence and _signs(after) != _signs(before)


def _signs(incident: Incident) -> list[tuple[str, bool, str]]:
    return [(own.id, own.closed_at_unix_nano is None, own.severity) for own in incident.evidence]


def run(bus: Bus, settings: Settings, stop: threading.Event, registry: CollectorRegistry) -> None:
    """Run the stage until `stop`: consume, serve the API and /metrics, deliver.

    Raises:
        ForewarnError: if the database is held by another decide, or a setting cannot be used.

    """
    with contextlib.ExitStack() as held:
        store = Store(database_path(settings))
        held.callback(store.close)
        producer = bus.producer()
        held.callback(producer.close, 1.0)
        dead = DeadLetters(producer, "decide", registry)
        post = Post(settings, Outbox(store.database), producer, registry, dead)
        table = load_runbooks(map(Path, settings.decide.runbook_directories))
        decide = Decide(settings, store, table, producer, registry, on_notes=post.wake, dead=dead)
        held.enter_context(post)
        held.enter_context(serve(decide, store, registry, settings.decide.listen))
        load_inventory(bus, decide.learn, stop)
        # The embedded bus is born with the process: offsets of an earlier one mean nothing to it,
        # and what is read twice is recognised by id and seq.
        start = store.offsets() if settings.bus.kind == "kafka" else {}
        consume(bus, start, decide.step, stop)


def database_path(settings: Settings) -> Path:
    """Return where decide keeps its database."""
    if settings.decide.database:
        return Path(settings.decide.database).expanduser()
    return state_directory() / "decide.sqlite"
