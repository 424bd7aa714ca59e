"""A bus in files that outlives its processes, for tests that kill them."""

import base64
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from forewarn.bus import Bus, Consumer, Message, Position, Producer, TopicName


class FileBus(Bus):
    """One file a topic, one line a message; a line that is cut short was never published."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def path(self, topic: str) -> Path:
        return self._directory / f"{topic}.jsonl"

    def producer(self) -> Producer:
        return _FileProducer(self)

    def consumer(
        self,
        topics: Iterable[TopicName],
        group: str | None,
        start: Mapping[Position, int] | None = None,
        from_beginning: Iterable[TopicName] = (),
    ) -> Consumer:
        begin = start or {}
        return _FileConsumer(self, {topic: begin.get((topic, 0), 0) for topic in topics})

    def read(self, topic: TopicName, offset: int) -> Iterator[Message]:
        if self.path(topic).exists():
            lines = self.path(topic).read_bytes().splitlines(keepends=True)
            for line in lines[offset:]:
                if line.endswith(b"\n"):
                    yield msgspec.json.decode(line, type=Message)

    def close(self) -> None:
        """Nothing is held."""


class _FileProducer(Producer):
    def __init__(self, bus: FileBus) -> None:
        self._bus = bus

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        offset = sum(1 for _ in self._bus.read(topic, 0))
        encoded = [(name, base64.b64encode(own).decode()) for name, own in headers]
        message = {
            "topic": topic, "key": key, "value": base64.b64encode(value or b"").decode(),
            "partition": 0, "offset": offset, "append_time_unix_nano": time.time_ns(),
            "headers": encoded,
        }  # fmt: skip
        line = msgspec.json.encode(message) + b"\n"
        handle = os.open(self._bus.path(topic), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(handle, line)
        os.close(handle)

    def flush(self, timeout_seconds: float) -> bool:
        return True

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Nothing is buffered."""


class _FileConsumer(Consumer):
    def __init__(self, bus: FileBus, following: dict[TopicName, int]) -> None:
        self._bus, self._following = bus, following

    def poll(self, timeout_seconds: float, max_messages: int = 1000) -> list[Message]:
        end = time.monotonic() + timeout_seconds
        while not (found := self._read()) and time.monotonic() < end:
            time.sleep(0.005)
        return found

    def _read(self) -> list[Message]:
        found: list[Message] = []
        for topic, offset in self._following.items():
            fresh = list(self._bus.read(topic, offset))
            self._following[topic] += len(fresh)
            found += fresh
        return found

    def commit(self) -> None:
        """There is no group."""

    def positions(self) -> Mapping[Position, int]:
        return {(topic, 0): offset for topic, offset in self._following.items()}

    def lag(self) -> int:
        unread = (self._bus.read(topic, offset) for topic, offset in self._following.items())
        return sum(1 for messages in unread for _ in messages)

    def close(self) -> None:
        """Nothing is held."""
