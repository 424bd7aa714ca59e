"""A decide stage that is stepped by hand, with a clock that stands still."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from prometheus_client import CollectorRegistry

from detector.decide import Decide
from detector.incidents.store import Store
from forewarn.config import Settings
from forewarn.incident import Incident
from forewarn.memory import MemoryBus
from forewarn.records import Finding, InventoryItem
from runbooks import Table, load
from tests.detector import samples


@cache
def built_in() -> Table:
    """Return the runbook that is shipped."""
    return load()


class Stage:
    """Decide over a store, fed with findings; `now` is the wall clock, ns."""

    def __init__(
        self,
        path: Path,
        settings: Settings | None = None,
        items: Iterable[InventoryItem] = (),
        table: Table | None = None,
        now: int = samples.T0,
    ) -> None:
        self.now = now
        self.bus = MemoryBus(clock=lambda: self.now)
        self.registry = CollectorRegistry()
        self.store = Store(path)
        with self.store.database.read() as connection:
            connection.execute("PRAGMA synchronous = OFF")  # no power is cut in tests
        self.decide = Decide(
            settings or Settings(cluster="c"),
            self.store,
            table or built_in(),
            self.bus.producer(),
            self.registry,
            clock=lambda: self.now,
        )
        self.decide.step(samples.inventory_messages(items))
        self._offset = 0

    def feed(self, *findings: Finding, seconds: float | None = None) -> list[Incident]:
        """Take findings in one step, appended when they were updated unless told otherwise."""
        messages = []
        for own in findings:
            messages.append(samples.message(own, self._offset, seconds))
            self._offset += 1
        self.now = max([self.now, *(own.append_time_unix_nano for own in messages)])
        return self.decide.step(messages)

    def rewind(self) -> None:
        """Give the next findings the offsets of the first ones, as a second delivery would."""
        self._offset = 0

    def feed_one_by_one(self, findings: Sequence[Finding]) -> None:
        """Take findings in one step each, in the order of their times."""
        for own in sorted(findings, key=lambda one: one.updated_at_unix_nano):
            self.feed(own)

    def idle(self, seconds: float) -> list[Incident]:
        """Let time pass without messages."""
        self.now = samples.at(seconds)
        return self.decide.step([])

    def living(self) -> list[Incident]:
        """Return incidents but the merged ones, oldest first."""
        return [own for own in self.store.incidents() if own.state != "merged"]

    def close(self) -> None:
        self.store.close()
