"""What the agent says of itself: that it is up, what it costs, how each collector fares."""

import os
import resource
from collections.abc import Callable, Container, Mapping

from exporters.admission import Admission
from exporters.collector import Host, Measurement, not_due
from exporters.spool import Spool
from exporters.worker import Worker
from forewarn import entity as entities


class OwnCost:
    """The agent process as a whole, at `node/<n>/agent/main`."""

    name = "own_cost"
    deadline_seconds = 1.0

    def __init__(self, host: Host, spool: Spool, admission: Admission) -> None:
        self._entity = f"{host.entity}/agent/main"
        self._statm = host.proc / "self/statm"
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._spool, self._admission = spool, admission
        self._rows: dict[str, Callable[[], float]] = {
            "agent_up": lambda: 1.0,
            "agent_cpu_seconds_total": _cpu_seconds,
            "agent_memory_bytes": self._memory_bytes,
            "agent_spool_bytes": lambda: float(self._spool.bytes),
            "agent_samples_dropped_total": self._dropped,
        }
        self.signals = tuple(self._rows)

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read what is due."""
        return [Measurement(s, self._entity, ask()) for s, ask in self._rows.items() if s in due]

    def _memory_bytes(self) -> float:
        """Return the resident size (proc(5), statm: second field, in pages)."""
        return float(int(self._statm.read_text(encoding="ascii").split()[1]) * self._page_bytes)

    def _dropped(self) -> float:
        return float(self._spool.dropped_samples + self._admission.dropped)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Health:
    """How each collector fares, at `node/<n>/agent/<collector>`; that of a device, below it."""

    name = "health"
    signals = (
        "agent_collector_success",
        "agent_collector_duration_seconds",
        "agent_collector_failures_total",
    )
    deadline_seconds = 1.0

    def __init__(self, host: Host, workers: Callable[[], Mapping[str, Worker]]) -> None:
        self._host, self._workers = host, workers

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the books of all workers."""
        found = [m for worker in self._workers().values() for m in self._one(worker)]
        return [measurement for measurement in found if measurement.signal in due]

    def _one(self, worker: Worker) -> list[Measurement]:
        name = worker.name.partition(":")[0] if worker.device else worker.name
        entity = f"{worker.device or self._host.entity}/agent/{entities.name(name)}"
        if worker.success is None:
            return [not_due(signal, entity) for signal in self.signals]
        values = (float(worker.success), worker.duration_seconds, float(worker.failures))
        return [Measurement(s, entity, v) for s, v in zip(self.signals, values, strict=True)]
