"""The buffer between the agent and the bus: bounded, in order, told when it drops."""

import logging
import threading
import time
from collections import deque
from collections.abc import Iterable

import msgspec

from forewarn.bus import Producer, TopicName
from forewarn.errors import BusError

logger = logging.getLogger(__name__)
RETRY_SECONDS = 0.5


class _Item(msgspec.Struct, frozen=True):
    topic: TopicName
    key: str
    value: bytes
    samples: int


class Spool(Producer):
    """Hands messages to the producer from a thread of its own, in the order they came.

    While the bus refuses, up to `limit_bytes` are held and tried again; beyond that the oldest
    goes, counted in `dropped_samples` (a message without samples counts as one).
    """

    def __init__(self, producer: Producer, limit_bytes: int) -> None:
        self._producer, self._limit = producer, limit_bytes
        self._items: deque[_Item] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._refused = ""
        self.bytes = 0
        self.dropped_samples = 0
        self._thread = threading.Thread(target=self._run, name="spool", daemon=True)
        self._thread.start()

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Take one message as a producer does; the agent sends neither headers nor tombstones."""
        self.send(topic, key, value or b"")

    def send(self, topic: TopicName, key: str, value: bytes, samples: int = 1) -> None:
        """Take one message; never blocks and never raises."""
        with self._changed:
            self._items.append(_Item(topic, key, value, samples))
            self.bytes += len(value)
            while self.bytes > self._limit and len(self._items) > 1:
                self._drop_oldest()
            self._changed.notify_all()

    def _drop_oldest(self) -> None:
        oldest = self._items.popleft()
        self.bytes -= len(oldest.value)
        if not self.dropped_samples:
            logger.error("the buffer of %d bytes is full: oldest samples are dropped", self._limit)
        self.dropped_samples += oldest.samples

    def empty(self) -> bool:
        """Say whether the producer has taken everything."""
        return not self._items

    def settled(self) -> bool:
        """Say whether the bus has everything: taken by the producer, and acknowledged."""
        return self.empty() and self._producer.flush(0.0)

    def _run(self) -> None:
        while (item := self._next()) is not None:
            if self._hand_over(item):
                self._done(item)
            elif self._closing:
                return
            else:
                time.sleep(RETRY_SECONDS)

    def _next(self) -> _Item | None:
        with self._changed:
            while not self._items and not self._closing:
                self._changed.wait()
            return self._items[0] if self._items else None

    def _hand_over(self, item: _Item) -> bool:
        try:
            self._producer.publish(item.topic, item.key, item.value)
        except BusError as error:
            self._tell(str(error))
            return False
        self._tell("")
        return True

    def _done(self, item: _Item) -> None:
        with self._changed:
            # It is gone already if the buffer overflowed while the producer took it.
            if self._items and self._items[0] is item:
                self._items.popleft()
                self.bytes -= len(item.value)
            self._changed.notify_all()

    def _tell(self, refused: str) -> None:
        """Log a refusal, and its end, once per change."""
        if bool(refused) != bool(self._refused):
            if refused:
                logger.warning("the bus refuses, holding back: %s", refused)
            else:
                logger.info("the bus takes messages again")
        self._refused = refused

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until the producer has taken everything and flushed it; say whether in time."""
        end = time.monotonic() + timeout_seconds
        with self._changed:
            drained = self._changed.wait_for(self.empty, timeout_seconds)
        return drained and self._producer.flush(max(0.0, end - time.monotonic()))

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Hand over what can be handed over in time, and end; the producer stays open."""
        if not self.flush(timeout_seconds):
            logger.warning("ended with %d messages not handed over", len(self._items))
        with self._changed:
            self._closing = True
            self._changed.notify_all()
