"""One collector in a thread of its own: what hangs in it stops nobody else."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from queue import SimpleQueue

import msgspec

from exporters.collector import (
    Collector,
    CollectorError,
    Measurement,
    Notice,
    Noticing,
    failed,
)
from exporters.devices import Part
from forewarn.catalogue import CATALOGUE

logger = logging.getLogger(__name__)


class Report(msgspec.Struct, frozen=True):
    """What came of one reading; `error` is empty when it succeeded."""

    collector: str
    number: int
    started_unix_nano: int
    duration_seconds: float
    measurements: list[Measurement]
    error: str = ""
    notices: tuple[Notice, ...] = ()


class Worker:
    """Runs one collector; all methods but the thread's own are for one calling thread.

    States: idle, reading, or late (past its deadline, its result no longer wanted). A worker that
    is not idle is never started again; each time it should have been is one more failure.
    """

    def __init__(
        self,
        collector: Collector,
        period_seconds: float,
        results: "SimpleQueue[Report]",
        clock: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = collector.name
        self.device = collector.entity if isinstance(collector, Part) else ""
        self.success: bool | None = None  # until the first reading has ended
        self.duration_seconds = 0.0
        self.failures = 0
        self._collector, self._results = collector, results
        self._clock, self._monotonic = clock, monotonic
        self._every = {s: _ticks(s, period_seconds) for s in collector.signals}
        self._next = dict.fromkeys(collector.signals, 0)
        self._known: dict[str, tuple[str, ...]] = {}
        self._orders: SimpleQueue[tuple[int, frozenset[str]] | None] = SimpleQueue()
        self._due: frozenset[str] = frozenset()
        self.events: Mapping[str, str] = {}
        if isinstance(collector, Noticing):
            self.events = collector.events
        self._number = 0
        self._began = 0.0
        self._started_unix_nano = 0
        self.reading = self.late = False
        self._told = ""
        self._bug = ""  # of the reading thread
        threading.Thread(target=self._serve, name=f"read {self.name}", daemon=True).start()

    def due(self, tick: int) -> frozenset[str]:
        """Return the signals due at this tick, and plan their next time."""
        due = frozenset(s for s, at in self._next.items() if tick >= at)
        for signal in due:
            every = self._every[signal]
            self._next[signal] = (tick // every + 1) * every
        return due

    def begin(self, due: frozenset[str]) -> list[Measurement]:
        """Start a reading; if the last one still hangs, return what has failed because of it.

        One that is under way within its deadline is left to end, and counts for this time too.
        """
        if self.late:
            return self._fail(due, "the last reading still hangs")
        if self.reading:
            return []
        self._number += 1
        self._due, self._began, self.reading = due, self._monotonic(), True
        self._started_unix_nano = self._clock()
        self._orders.put((self._number, due))
        return []

    @property
    def started_unix_nano(self) -> int:
        """When the latest reading was started."""
        return self._started_unix_nano

    @property
    def asked(self) -> frozenset[str]:
        """Return the signals that the latest reading was asked for."""
        return self._due

    def left_seconds(self) -> float:
        """Return the time left until the deadline of the reading under way."""
        return self._began + self._collector.deadline_seconds - self._monotonic()

    def expire(self) -> list[Measurement]:
        """Give up the reading under way; return what has failed because of it."""
        self.reading, self.late = False, True
        self.duration_seconds = self._monotonic() - self._began
        text = f"no answer within {self._collector.deadline_seconds:g} s"
        return self._fail(self._due, text)

    def finish(self, report: Report) -> list[Measurement] | None:
        """Take the report of a reading; return its measurements, None if it came too late."""
        if self.late:
            self.late = False
            logger.info("collector %s answers again", self.name)
            return None
        self.reading = False
        self.duration_seconds = report.duration_seconds
        if report.error:
            return self._fail(self._due, report.error)
        self._succeed(report.measurements)
        return report.measurements

    def _succeed(self, measurements: list[Measurement]) -> None:
        if self._told:
            logger.info("collector %s works again", self.name)
        self.success, self._told = True, ""
        for signal in self._due:
            self._known[signal] = tuple(m.entity for m in measurements if m.signal == signal)

    def _fail(self, due: frozenset[str], text: str) -> list[Measurement]:
        """Count a failure; every series known of it is FAILED, so that silence is no health."""
        self.success = False
        self.failures += 1
        if not self._told:
            logger.warning("collector %s failed: %s", self.name, text)
        self._told = text
        return [failed(s, entity) for s in sorted(due) for entity in self._known.get(s, ())]

    def close(self) -> None:
        """End the thread when its reading ends; never waits for it."""
        self._orders.put(None)

    def _serve(self) -> None:
        while (order := self._orders.get()) is not None:
            self._results.put(self._read(*order))

    def _read(self, number: int, due: frozenset[str]) -> Report:
        started, begin = self._clock(), self._monotonic()
        measurements: list[Measurement] = []
        error = ""
        try:
            measurements = self._collector.read(due)
            self._check(measurements)
        except (CollectorError, OSError) as caught:
            error = str(caught)
        except Exception as caught:
            error = f"{type(caught).__name__}: {caught}"
            if error != self._bug:  # told once, until it breaks in another way
                logger.exception("collector %s has a bug", self.name)
            self._bug = error
        seen = self._collector.notices() if isinstance(self._collector, Noticing) else ()
        took = self._monotonic() - begin
        return Report(self.name, number, started, took, measurements, error, tuple(seen))

    def _check(self, measurements: list[Measurement]) -> None:
        """Refuse what would spoil the frame that all collectors share. Raises CollectorError."""
        undeclared = {m.signal for m in measurements} - self._every.keys()
        if undeclared:
            raise CollectorError(f"undeclared signals {sorted(undeclared)}")
        seen: set[tuple[str, str]] = set()
        for m in measurements:
            if not isinstance(m.value, float | int):
                raise CollectorError(f"{m.signal} of {m.entity}: {m.value!r} is no number")
            if (m.signal, m.entity) in seen:
                raise CollectorError(f"{m.signal} of {m.entity} stands twice")
            seen.add((m.signal, m.entity))


def _ticks(signal: str, period_seconds: float) -> int:
    """Return every how many ticks of the agent a signal is due: the catalogue's period."""
    return max(1, round(CATALOGUE[signal].period_seconds / period_seconds))
