"""Rounds of reading: who is due is started, who is prompt shares a frame, who is late does not."""

import queue
import time
from collections.abc import Callable, Iterable, Mapping
from queue import SimpleQueue

import msgspec

from exporters.collector import Collector, Measurement, Notice
from exporters.worker import Report, Worker

GRACE = 0.25  # share of a tick in which the prompt ones answer


class Batch(msgspec.Struct, frozen=True):
    """The measurements of one collector, when their reading started, and what was due.

    `notices` are what it saw happen; `events` which events it watches where it reads which signal.
    """

    collector: str
    started_unix_nano: int
    measurements: list[Measurement]
    due: frozenset[str] = frozenset()
    notices: tuple[Notice, ...] = ()
    events: Mapping[str, str] = {}


class Rounds:
    """Starts readings and hands out what came of them; for one calling thread."""

    def __init__(
        self,
        collectors: Iterable[Collector],
        period_seconds: float,
        clock: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._results: SimpleQueue[Report] = SimpleQueue()
        self._monotonic = monotonic
        self._grace_seconds = GRACE * period_seconds
        self.workers = {
            c.name: Worker(c, period_seconds, self._results, clock, monotonic) for c in collectors
        }
        self._clock = clock

    def begin(self, tick: int) -> list[Batch]:
        """Start all who are due; return the failures of those that still hang."""
        hung = []
        for worker in self.workers.values():
            due = worker.due(tick)
            lost = worker.begin(due) if due else []
            if lost:
                hung.append(Batch(worker.name, self._clock(), lost))
        return hung

    def gather(self, seconds: float | None = None) -> list[Batch]:
        """Return what is finished once nothing is out any more, at the latest after `seconds`.

        Without `seconds`, after a quarter of a tick.
        """
        end = self._monotonic() + (self._grace_seconds if seconds is None else seconds)
        found: list[Batch] = []
        while self._reading() and (left := end - self._monotonic()) > 0:
            found += self.wait(left)
        return found

    def wait(self, seconds: float) -> list[Batch]:
        """Wait for one report or deadline; return the batches that it made."""
        reading = self._reading()
        left = min([seconds, *(worker.left_seconds() for worker in reading)])
        try:
            report = self._results.get(timeout=max(0.0, left))
        except queue.Empty:
            return self._expire()
        worker = self.workers[report.collector]
        measurements, due = worker.finish(report), worker.asked
        if measurements is None:  # too late for numbers; what happened has happened all the same
            measurements, due = [], frozenset()
            if not report.notices:
                return []
        started = report.started_unix_nano
        return [Batch(worker.name, started, measurements, due, report.notices, worker.events)]

    def _reading(self) -> list[Worker]:
        return [worker for worker in self.workers.values() if worker.reading]

    def _expire(self) -> list[Batch]:
        return [
            Batch(worker.name, worker.started_unix_nano, worker.expire())
            for worker in self._reading()
            if worker.left_seconds() <= 0
        ]

    def close(self) -> None:
        """Let the threads end; one that hangs is left behind."""
        for worker in self.workers.values():
            worker.close()
