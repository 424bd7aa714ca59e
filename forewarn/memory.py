"""The embedded bus: topics as lists in this process. Nothing is kept beyond the process."""

import heapq
import threading
import time
import zlib
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from forewarn.bus import TOPICS, Bus, Consumer, Message, Position, Producer, TopicName
from forewarn.errors import BusError


class MemoryBus(Bus):
    """A bus inside one process, safe for threads.

    Each partition keeps its latest `keep_bytes`; a consumer further behind than that is told by a
    BusError rather than served a gap. Compacted topics keep the latest message of each key.
    """

    def __init__(
        self,
        partitions: int = 1,
        keep_bytes: int = 64 * 2**20,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.partitions = partitions
        self.arrived = threading.Condition()
        self.logs: dict[Position, _Log] = {}
        self.committed: dict[tuple[str, TopicName, int], int] = {}
        self._keep_bytes, self._clock = keep_bytes, clock

    def log(self, at: Position) -> "_Log":
        """Return the log of one partition; hold `arrived` while using it."""
        if at not in self.logs:
            topic = TOPICS.get(at[0])  # type: ignore[call-overload]
            self.logs[at] = _Log(self._keep_bytes, topic is not None and topic.compacted)
        return self.logs[at]

    def producer(self) -> Producer:
        """Return a producer; publishing is immediate."""
        return _MemoryProducer(self)

    def consumer(
        self,
        topics: Iterable[TopicName],
        group: str | None,
        start: Mapping[Position, int] | None = None,
        from_beginning: Iterable[TopicName] = (),
    ) -> Consumer:
        """Return a consumer of all partitions (a group has one member here)."""
        return _MemoryConsumer(self, list(topics), group, dict(start or {}), set(from_beginning))

    def append(
        self, topic: TopicName, key: str, value: bytes, headers: tuple[tuple[str, bytes], ...]
    ) -> None:
        """Append one message and wake the consumers."""
        if topic not in TOPICS:
            raise BusError(f"unknown topic {topic!r}; one of {', '.join(TOPICS)}")
        partition = zlib.crc32(key.encode()) % self.partitions
        with self.arrived:
            log = self.log((topic, partition))
            log.append(Message(topic, key, value, partition, log.end, self._clock(), headers))
            self.arrived.notify_all()

    def close(self) -> None:
        """Drop all messages."""
        with self.arrived:
            self.logs.clear()


class _Log:
    """One partition; messages stand in the order of their offsets, with gaps where compacted."""

    def __init__(self, keep_bytes: int, compacted: bool) -> None:
        self._messages: deque[Message] = deque()
        self._keep_bytes, self._compacted = keep_bytes, compacted
        self._bytes = 0
        self._dead = 0
        self.end = self.first = 0

    def append(self, message: Message) -> None:
        self._messages.append(message)
        self._bytes += len(message.value)
        self.end += 1
        if self._compacted:
            self._compact()
        while not self._compacted and self._bytes > self._keep_bytes and len(self._messages) > 1:
            self._bytes -= len(self._messages.popleft().value)
            self.first = self._messages[0].offset

    def _compact(self) -> None:
        """Keep the latest of each key; amortised, when half of what is held may be dead."""
        self._dead += 1
        if self._dead <= max(1000, len(self._messages) // 2):
            return
        latest = {message.key: message for message in self._messages}
        self._messages = deque(sorted(latest.values(), key=lambda message: message.offset))
        self._dead = 0

    def read(self, offset: int, count: int) -> tuple[list[Message], int]:
        """Return messages from `offset` on and the offset to go on from."""
        if offset >= self.end or count <= 0:
            return [], offset
        begin = bisect_left(self._messages, offset, key=lambda message: message.offset)
        found = list(islice(self._messages, begin, begin + count))
        return found, (found[-1].offset + 1 if found else self.end)


class _MemoryProducer(Producer):
    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        self._bus.append(topic, key, value or b"", tuple(headers))

    def flush(self, timeout_seconds: float) -> bool:
        return True

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Nothing is buffered."""


class _MemoryConsumer(Consumer):
    def __init__(
        self,
        bus: MemoryBus,
        topics: list[TopicName],
        group: str | None,
        start: dict[Position, int],
        from_beginning: set[TopicName],
    ) -> None:
        self._bus, self._group = bus, group
        self._next: dict[tuple[TopicName, int], int] = {}
        with bus.arrived:
            for topic in topics:
                for partition in range(bus.partitions):
                    self._next[topic, partition] = self._begin(
                        topic, partition, start, from_beginning
                    )

    def _begin(
        self,
        topic: TopicName,
        partition: int,
        start: dict[Position, int],
        from_beginning: set[TopicName],
    ) -> int:
        log = self._bus.log((topic, partition))
        if self._group is not None:
            return self._bus.committed.get((self._group, topic, partition), log.first)
        if (topic, partition) in start:
            return start[topic, partition]
        return log.first if topic in from_beginning else log.end

    def poll(self, timeout_seconds: float, max_messages: int = 1000) -> list[Message]:
        deadline = time.monotonic() + timeout_seconds
        with self._bus.arrived:
            while not (found := self._read(max_messages)):
                left = deadline - time.monotonic()
                if left <= 0 or not self._bus.arrived.wait(left):
                    break
            return found

    def _read(self, count: int) -> list[Message]:
        """Take what stands next, in the order of arrival, so that no topic starves another."""
        waiting: list[list[Message]] = []
        for at, offset in self._next.items():
            self._tell_gap(at, offset)
            messages, end = self._bus.log(at).read(offset, count)
            waiting.append(messages)
            if not messages:
                self._next[at] = end
        merged = heapq.merge(*waiting, key=lambda message: message.append_time_unix_nano)
        found = list(islice(merged, count))
        for message in found:
            self._next[message.topic, message.partition] = message.offset + 1
        return found

    def _tell_gap(self, at: tuple[TopicName, int], offset: int) -> None:
        """Tell once what is gone; the next poll goes on with what was kept."""
        first = self._bus.log(at).first
        if offset < first:
            self._next[at] = first
            raise BusError(
                f"{at[0]}: offset {offset} is gone: the embedded bus kept {first} on; "
                f"{first - offset} messages were lost to a reader that is too slow"
            )

    def commit(self) -> None:
        if self._group is None:
            return
        with self._bus.arrived:
            for (topic, partition), offset in self._next.items():
                self._bus.committed[self._group, topic, partition] = offset

    def positions(self) -> Mapping[Position, int]:
        return {(topic, partition): offset for (topic, partition), offset in self._next.items()}

    def lag(self) -> int:
        with self._bus.arrived:
            return sum(self._bus.log(at).end - offset for at, offset in self._next.items())

    def close(self) -> None:
        """Nothing is held."""
