"""The inventory of a node: which signals each source reads; told at start, on change, in turn."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from exporters.collector import Measurement
from exporters.spool import Spool
from forewarn import wire
from forewarn.records import InventoryItem, Outcome, Placement


class _Entry:
    """What is known of one entity."""

    def __init__(self) -> None:
        self.attributes: dict[str, str] = {}
        self.collects: dict[str, set[str]] = {}
        self.unsupported: set[str] = set()
        self.placement: Placement | None = None
        self.changed = True


class Announcer:
    """Keeps what was seen of each entity and sends it; safe for threads.

    A device is never taken back: one that is gone is one whose signals are missed, not one that
    never was. Only ranks end (`remove`).
    """

    def __init__(
        self,
        cluster: str,
        spool: Spool,
        every_seconds: float,
        clock: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster, self._spool, self._every = cluster, spool, every_seconds
        self._clock, self._monotonic = clock, monotonic
        self._entries: dict[str, _Entry] = {}
        self._users: dict[str, dict[str, set[int]]] = {}  # device -> part of it -> processes
        self._lock = threading.Lock()
        self._next_full = monotonic() + every_seconds

    def describe(self, entity: str, attributes: Mapping[str, str]) -> None:
        """Set attributes of an entity."""
        with self._lock:
            entry = self._entries.setdefault(entity, _Entry())
            entry.changed |= not attributes.items() <= entry.attributes.items()
            entry.attributes.update(attributes)

    def place(self, entity: str, placement: Placement) -> None:
        """Say where a rank runs."""
        with self._lock:
            entry = self._entries.setdefault(entity, _Entry())
            entry.changed |= entry.placement != placement
            entry.placement = placement

    def use(self, device: str, users: Mapping[str, set[int]]) -> None:
        """Set which processes use a device; `users` tells apart the device and its parts."""
        with self._lock:
            self._users[device] = dict(users)

    def devices_of(self, pid: int) -> tuple[str, ...]:
        """Return the devices, or parts of them, that a process uses."""
        with self._lock:
            parts = (part for users in self._users.values() for part in users.items())
            return tuple(sorted(entity for entity, pids in parts if pid in pids))

    def remove(self, entity: str) -> None:
        """End an entity, and say so."""
        with self._lock:
            if self._entries.pop(entity, None) is None:
                return
        item = InventoryItem(self._cluster, entity, self._clock(), removed=True)
        self._spool.send("inventory", entity, wire.encode_inventory(item))

    def declare(self, source: str, entity: str, signals: Iterable[str]) -> None:
        """Say that a source watches signals of an entity (events have no readings to see)."""
        with self._lock:
            entry = self._entries.setdefault(entity, _Entry())
            held = entry.collects.setdefault(source, set())
            entry.changed |= not set(signals) <= held
            held.update(signals)

    def observe(self, source: str, measurements: Iterable[Measurement]) -> None:
        """Learn from readings which signals a source reads, and which the device cannot give."""
        with self._lock:
            for measurement in measurements:
                self._learn(source, measurement)

    def _learn(self, source: str, m: Measurement) -> None:
        entry = self._entries.get(m.entity)
        if entry is None:
            entry = self._entries[m.entity] = _Entry()
        held = entry.collects.setdefault(source, set())
        lacking = m.outcome is Outcome.UNSUPPORTED
        if m.signal not in held or (lacking and m.signal not in entry.unsupported):
            held.add(m.signal)
            entry.changed = True
        if lacking:
            entry.unsupported.add(m.signal)
        elif m.outcome is Outcome.OK and m.signal in entry.unsupported:
            entry.unsupported.discard(m.signal)
            entry.changed = True

    def announce(self) -> None:
        """Send what has changed; everything when it is time again."""
        now = self._monotonic()
        everything = now >= self._next_full
        if everything:
            self._next_full = now + self._every
        with self._lock:
            for entity, entry in self._entries.items():
                if everything or entry.changed:
                    entry.changed = False
                    self._send(entity, entry)

    def _send(self, entity: str, entry: _Entry) -> None:
        item = InventoryItem(
            cluster=self._cluster,
            entity=entity,
            time_unix_nano=self._clock(),
            attributes=dict(entry.attributes),
            collects={source: tuple(sorted(own)) for source, own in entry.collects.items()},
            unsupported=tuple(sorted(entry.unsupported)),
            placement=entry.placement,
        )
        self._spool.send("inventory", entity, wire.encode_inventory(item))
