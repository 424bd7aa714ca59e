"""A simulated cluster through a broker that was away: what is caught up, and in what order."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

from forewarn.bus import Message
from forewarn.records import NANOSECONDS
from simulator import Simulation
from tests.detector.feed import of_instant

PARTITIONS = 8
Row = tuple[float, Message]  # seconds since the start at which it was sent, and what
Order = Callable[[list[Row]], list[Row]]


def rows(simulation: Simulation) -> list[Row]:
    """Return all that a cluster sends, each key in a partition of eight, appended on time."""
    offsets: Counter[str] = Counter()
    return [
        (float(second), msgspec.structs.replace(message, partition=_partition(message)))
        for second, instant in enumerate(simulation)
        for message in of_instant(instant, offsets)
    ]


def _partition(message: Message) -> int:
    return zlib.crc32(message.key.encode()) % PARTITIONS


def whole(own: list[Row]) -> list[Row]:
    """Order by partition: all of one, then all of the next; nodes before jobs before events."""
    topics = ("inventory", "frames", "jobs", "events")
    return sorted(own, key=lambda row: (topics.index(row[1].topic), row[1].partition, row[0]))


def interleaved(own: list[Row]) -> list[Row]:
    """Order by batches: five seconds of one partition, then those of the next."""
    return sorted(own, key=lambda row: (row[0] // 5, row[1].topic, -row[1].partition, row[0]))


def skewed(own: list[Row]) -> list[Message]:
    """Give messages at their own append times, each partition five seconds at a time."""
    return [message for _, message in interleaved(own)]


def jobs_ahead(own: list[Row]) -> list[Row]:
    """Order by time, jobs 100 s before their nodes."""
    return sorted(own, key=lambda row: row[0] - 100 * (row[1].topic == "jobs"))


def jobs_behind(own: list[Row]) -> list[Row]:
    """Order by time, jobs 100 s after their nodes."""
    return sorted(own, key=lambda row: row[0] + 100 * (row[1].topic == "jobs"))


def caught_up(
    own: list[Row], begin: float, end: float, order: Order, lasting: float
) -> Iterator[Message]:
    """Give what consumers see when the broker was away from `begin` to `end`, ordered anew.

    The backlog is appended from `end` on, evenly within `lasting` seconds; what is sent meanwhile
    and later comes on time, each partition in its own order.
    """
    backlog = order([row for row in own if begin <= row[0] < end])
    first = own[0][1].append_time_unix_nano
    late = {
        id(message): first + round((end + lasting * n / len(backlog)) * NANOSECONDS)
        for n, (_, message) in enumerate(backlog)
    }
    seen = [row for row in own if row[0] < begin] + backlog + [row for row in own if row[0] >= end]
    yield from in_order(
        msgspec.structs.replace(m, append_time_unix_nano=late.get(id(m), m.append_time_unix_nano))
        for _, m in seen
    )


def in_order(messages: Iterable[Message]) -> Iterator[Message]:
    """Give messages in the order of append times that never go back within a partition."""
    latest: Counter[tuple[str, int]] = Counter()
    found = []
    for message in messages:
        at = message.topic, message.partition
        latest[at] = max(latest[at], message.append_time_unix_nano)
        found.append(msgspec.structs.replace(message, append_time_unix_nano=latest[at]))
    return iter(sorted(found, key=lambda message: message.append_time_unix_nano))
