"""NFS as the client sees it: latency of each operation, waits, retransmissions and timeouts."""

import re
from collections.abc import Container, Iterator

import msgspec

from exporters.collector import CollectorError, Host, Measurement, not_due, unsupported
from exporters.storage.filesystems import unescape
from forewarn import entity as entities

_DEVICE = re.compile(r"device .* mounted on (?P<path>\S+) with fstype (?P<type>nfs4?)\b")
_LATENCY, _OPERATIONS = "storage_operation_latency_seconds", "storage_operations_total"
_SLOT_WAIT = "storage_rpc_slot_wait_seconds"
_BACKLOG, _PENDING = "storage_rpc_backlogged_requests_total", "storage_rpc_pending_requests_total"
_RETRANSMITS, _TIMEOUTS = "storage_rpc_retransmissions_total", "storage_rpc_timeouts_total"
# Where the queue counts stand after `xprt: PROTOCOL`, by protocol: backlog, then pending (only
# with statvers 1.1). Source: net/sunrpc/xprtsock.c, print_stats; xprtrdma has no pending.
_BACKLOG_AT = {"tcp": 9, "local": 8, "udp": 6, "rdma": 9}
_PENDING_AT = {"tcp": 12, "local": 11, "udp": 9}


class Operation(msgspec.Struct, frozen=True):
    """One line of the per-op statistics: counts since the mount, times in milliseconds."""

    requests: int
    transmissions: int
    timeouts: int
    queue_ms: int
    execute_ms: int


class Nfs(msgspec.Struct, frozen=True):
    """One NFS mount; a queue count is None where the transport has none."""

    path: str
    operations: dict[str, Operation]
    backlog: int | None
    pending: int | None


def parse(text: str) -> list[Nfs]:
    """Read /proc/self/mountstats: NFS mounts, each path once. Raises CollectorError."""
    found: dict[str, Nfs] = {}
    for block in re.split(r"^(?=device )", text, flags=re.MULTILINE):
        head = _DEVICE.match(block)
        if head:
            path = unescape(head["path"])
            try:
                found[path] = _mount(path, block.splitlines()[1:])
            except ValueError as error:
                raise CollectorError(f"mountstats of {path}: {error}") from error
    return list(found.values())


def _mount(path: str, lines: list[str]) -> Nfs:
    operations: dict[str, Operation] = {}
    transports: list[list[str]] = []
    for line in lines:
        name, _, rest = line.strip().partition(":")
        words = rest.split()
        if name == "xprt" and words:
            transports.append(words)
        elif len(words) >= 8 and name.isupper():
            operations[name] = _operation(words)
    return Nfs(path, operations, _sum(transports, _BACKLOG_AT), _sum(transports, _PENDING_AT))


def _operation(words: list[str]) -> Operation:
    """Read `ops transmissions timeouts sent received queue rtt execute [errors]`."""
    n = [int(word) for word in words[:8]]
    return Operation(n[0], n[1], n[2], n[5], n[7])


def _sum(transports: list[list[str]], place: dict[str, int]) -> int | None:
    """Add a count over all transports (a mount may have several connections)."""
    counts = [
        int(words[at + 1])
        for words in transports
        if (at := place.get(words[0])) is not None and len(words) > at + 1
    ]
    return sum(counts) if counts else None


class Mountstats:
    """Reads /proc/self/mountstats; means are made from two readings."""

    name = "mountstats"
    signals = (
        _LATENCY, _OPERATIONS, _SLOT_WAIT, _BACKLOG, _PENDING, _RETRANSMITS, _TIMEOUTS,
    )  # fmt: skip
    deadline_seconds = 5.0

    def __init__(self, host: Host) -> None:
        self._host = host
        self._before: dict[str, Nfs] = {}

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read all NFS mounts; operations that were never used are left out."""
        path = self._host.proc / "self/mountstats"
        if not path.exists():  # a kernel without network file systems
            return []
        mounts = parse(path.read_text(encoding="utf-8", errors="surrogateescape"))
        found = [m for mount in mounts for m in self._mount(mount) if m.signal in due]
        self._before = {mount.path: mount for mount in mounts}
        return found

    def _mount(self, now: Nfs) -> Iterator[Measurement]:
        entity = f"{self._host.entity}/mount/{entities.name(now.path)}"
        before = self._before.get(now.path)
        for name, operation in now.operations.items():
            if operation.requests:
                earlier = before.operations.get(name) if before else None
                yield from _used(f"{entity}/op/{entities.name(name)}", operation, earlier)
        yield from _transport(entity, now, before)


def _used(entity: str, now: Operation, before: Operation | None) -> Iterator[Measurement]:
    yield Measurement(_OPERATIONS, entity, float(now.requests))
    mean = None
    if before is not None:
        mean = _mean(now.execute_ms - before.execute_ms, now.requests - before.requests)
    yield not_due(_LATENCY, entity) if mean is None else Measurement(_LATENCY, entity, mean)


def _mean(milliseconds: int, requests: int) -> float | None:
    """Return the mean in seconds; None where nothing was asked or the counts began anew."""
    return milliseconds / requests / 1e3 if requests > 0 and milliseconds >= 0 else None


def _transport(entity: str, now: Nfs, before: Nfs | None) -> Iterator[Measurement]:
    yield _slot_wait(entity, now, before)
    for signal, count in ((_BACKLOG, now.backlog), (_PENDING, now.pending)):
        if count is None:
            yield unsupported(signal, entity)
        else:
            yield Measurement(signal, entity, float(count))
    used = now.operations.values()
    again = sum(max(0, own.transmissions - own.requests) for own in used)
    yield Measurement(_RETRANSMITS, entity, float(again))
    yield Measurement(_TIMEOUTS, entity, float(sum(own.timeouts for own in used)))


def _slot_wait(entity: str, now: Nfs, before: Nfs | None) -> Measurement:
    if before is None:
        return not_due(_SLOT_WAIT, entity)
    queued, requests = (
        sum(getattr(own, field) for own in now.operations.values())
        - sum(getattr(own, field) for own in before.operations.values())
        for field in ("queue_ms", "requests")
    )
    mean = _mean(queued, requests)
    return not_due(_SLOT_WAIT, entity) if mean is None else Measurement(_SLOT_WAIT, entity, mean)
