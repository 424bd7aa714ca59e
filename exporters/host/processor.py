"""Processor time of the whole node, as shares of the time since the last reading."""

from collections.abc import Container

import msgspec

from exporters.collector import CollectorError, Host, Measurement, not_due


class Times(msgspec.Struct, frozen=True):
    """Processor time since boot, in ticks: all states together, and three of them."""

    total: int
    idle: int
    iowait: int
    steal: int


def parse(text: str) -> Times:
    """Read the first line of /proc/stat; guest time is already part of user time (proc(5)).

    Raises CollectorError.
    """
    words = text.partition("\n")[0].split()
    if len(words) < 9 or words[0] != "cpu":
        raise CollectorError(f"stat: expected `cpu` and eight counts, got {words[:9]}")
    ticks = [int(word) for word in words[1:9]]
    return Times(total=sum(ticks), idle=ticks[3], iowait=ticks[4], steal=ticks[7])


def shares(before: Times, now: Times) -> dict[str, float]:
    """Return the shares of the time between two readings; empty where no time passed.

    Waiting for I/O is idle time (the processor could do other work), so it is not in use. The
    kernel's iowait can step back (proc(5)); a share is never below 0.
    """
    total = now.total - before.total
    if total <= 0:
        return {}
    idle, iowait = now.idle - before.idle, max(0, now.iowait - before.iowait)
    return {
        "node_cpu_utilization_ratio": min(1.0, max(0.0, 1 - (idle + iowait) / total)),
        "node_cpu_iowait_ratio": min(1.0, iowait / total),
        "node_cpu_steal_ratio": min(1.0, max(0, now.steal - before.steal) / total),
    }


class Processor:
    """Reads /proc/stat; each signal covers the time since it was last due."""

    name = "processor"
    signals = ("node_cpu_utilization_ratio", "node_cpu_iowait_ratio", "node_cpu_steal_ratio")
    deadline_seconds = 1.0

    def __init__(self, host: Host) -> None:
        self._entity = host.entity
        self._path = host.proc / "stat"
        self._before: dict[str, Times] = {}

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read once; the first reading has nothing to compare with."""
        with self._path.open(encoding="ascii") as handle:
            now = parse(handle.readline())
        return [self._one(signal, now) for signal in self.signals if signal in due]

    def _one(self, signal: str, now: Times) -> Measurement:
        before = self._before.get(signal)
        share = shares(before, now).get(signal) if before else None
        self._before[signal] = now
        if share is None:
            return not_due(signal, self._entity)
        return Measurement(signal, self._entity, share)
