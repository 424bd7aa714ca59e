"""Publishing to Kafka: bounded, in order, and nothing lost while the broker is away.

Messages wait in our own queue, one per topic, until Kafka acknowledges them. A thread hands them to
kafka-python's idempotent producer, at most `WINDOW_BYTES` ahead of the acknowledgements. When that
producer gives a message up without Kafka having refused it (expired, its producer id lost, its
login revoked), a new one takes over and all unacknowledged messages are sent again in their order;
only then can a message appear twice. So no timeout of kafka-python ever drops a message.
"""

import functools
import logging
import threading
import time
from collections import deque
from collections.abc import Iterable
from typing import Any

import kafka.errors as kafka_errors
import msgspec
from kafka import KafkaProducer

from forewarn.bus import MAX_MESSAGE_BYTES, Producer, TopicName
from forewarn.errors import BusError
from forewarn.kafka import admin
from forewarn.kafka.link import CONNECT_SECONDS, Link, passing

logger = logging.getLogger(__name__)
BUFFER_BYTES = 32 * 2**20
WINDOW_BYTES = 8 * 2**20
OVERHEAD_BYTES = 128  # of one record beside key, value and headers; generous
LINGER_MS = 5  # low, since findings travel this way; under load batches fill in less
RETRY_SECONDS = 3.0
SILENT_SECONDS = 3.0
# What Kafka says of one message or topic; sending it again would not help.
_REFUSALS = (
    kafka_errors.MessageSizeTooLargeError,
    kafka_errors.RecordListTooLargeError,
    kafka_errors.InvalidRecordError,
    kafka_errors.InvalidTimestampError,
    kafka_errors.InvalidTopicError,
    kafka_errors.PolicyViolationError,
    kafka_errors.TopicAuthorizationFailedError,
)


class _Record(msgspec.Struct, frozen=True, gc=False):
    key: bytes
    value: bytes | None
    headers: list[tuple[str, bytes]]
    size: int


class _Lane:
    """The messages of one topic, in order: first those handed over, then those that wait."""

    def __init__(self) -> None:
        self.sent: dict[int, _Record] = {}
        self.waiting: deque[_Record] = deque()
        self.missing_until = 0.0

    def rewind(self) -> int:
        """Let everything wait again, in the old order; return how many had been handed over."""
        count = len(self.sent)
        self.waiting.extendleft(reversed(self.sent.values()))
        self.sent = {}
        return count


class KafkaBusProducer(Producer):
    """A producer with a bounded buffer; `publish` never waits for the broker."""

    def __init__(self, link: Link, buffer_bytes: int) -> None:
        self._link, self._limit = link, buffer_bytes
        self._changed = threading.Condition()
        self._lanes: dict[TopicName, _Lane] = {}
        self._bytes = self._messages = self._window = self._losses = self._ids = 0
        self._refusal: BusError | None = None
        self._failure: BaseException | None = None
        self._closing = False
        self._client: Any = None
        self._heard = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="kafka-producer", daemon=True)
        self._thread.start()

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Take one message into the buffer.

        Raises:
            BusError: if the buffer is full, the message too large, the topic unknown or missing,
                or Kafka refuses us; the message is then not taken.

        """
        self._link.name(topic)
        record = _record(topic, key, value, list(headers))
        with self._changed:
            self._admit(topic, record)
            self._lanes.setdefault(topic, _Lane()).waiting.append(record)
            self._account(1, record.size)
            self._changed.notify_all()

    def flush(self, timeout_seconds: float) -> bool:
        """Wait for all acknowledgements; False too if Kafka refused a message since the last one.

        Which messages these were is in the log; they are counted in
        forewarn_bus_publish_errors_total.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._messages or self._refusal, timeout_seconds)
            losses, self._losses = self._losses, 0
            return not self._messages and not losses

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Flush, then let go; what Kafka did not acknowledge in time is told and given up."""
        if self._closing:
            return
        self.flush(max(0.0, timeout_seconds - CONNECT_SECONDS))
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(CONNECT_SECONDS)
        if self._messages:
            logger.error("gave %d messages up that Kafka did not acknowledge", self._messages)
            self._account(-self._messages, -self._bytes)

    def _admit(self, topic: TopicName, record: _Record) -> None:
        if self._closing:
            raise BusError("the producer is closed")
        if self._refusal is not None:
            raise self._refusal
        if topic in self._lanes and self._lanes[topic].missing_until:
            raise BusError(admin.missing_text(self._link, [topic]))
        if self._bytes + record.size > self._limit:
            text = f"{self._messages} messages, {self._bytes} bytes"
            raise BusError(f"the buffer for Kafka is full ({text}): the broker is away or too slow")

    def _account(self, messages: int, size: int) -> None:
        self._messages += messages
        self._bytes += size
        self._link.metrics.buffered.inc(messages)
        self._link.metrics.buffered_bytes.inc(size)

    # The thread: the only user of kafka-python's producer.

    def _run(self) -> None:
        while not self._closing:
            with self._changed:
                self._changed.wait_for(self._due, timeout=1.0)
            try:
                self._step()
            except (kafka_errors.KafkaError, OSError) as error:
                self._pause(error)
        _discard(self._client)

    def _due(self) -> bool:
        now = time.monotonic()
        troubled = self._client is None or self._failure is not None
        return self._closing or troubled or bool(self._ready(now))

    def _ready(self, now: float) -> list[tuple[TopicName, _Lane]]:
        if self._window >= WINDOW_BYTES:
            return []
        lanes = self._lanes.items()
        return [(t, lane) for t, lane in lanes if lane.waiting and lane.missing_until <= now]

    def _step(self) -> None:
        """Replace a failed client, connect, and hand over what waits."""
        if self._failure is not None:
            self._renew()
        self._watch()
        if self._client is None and not self._closing:
            self._client = self._connect()
            self._refusal = None
        with self._changed:
            ready = self._ready(time.monotonic())
        for topic, lane in ready:
            self._hand_over(topic, lane)

    def _connect(self) -> Any:
        self._heard = time.monotonic()
        return self._link.connect(
            KafkaProducer,
            CONNECT_SECONDS,
            enable_idempotence=True,
            acks="all",
            compression_type=self._link.settings.compression,
            linger_ms=LINGER_MS,
            batch_size=256 * 1024,
            max_request_size=MAX_MESSAGE_BYTES,
            max_block_ms=1000,
            delivery_timeout_ms=24 * 3600 * 1000,
            allow_auto_create_topics=False,
            metrics_enabled=False,
        )

    def _hand_over(self, topic: TopicName, lane: _Lane) -> None:
        name = self._link.name(topic)
        while lane.waiting and self._window < WINDOW_BYTES and self._failure is None:
            with self._changed:
                record = lane.waiting.popleft()
                self._ids += 1
                number = self._ids
                lane.sent[number] = record
                self._window += record.size
            try:
                future = self._client.send(name, record.value, record.key, record.headers)
            except kafka_errors.KafkaTimeoutError:
                self._put_back(lane, number)
                self._judge_missing(topic, lane)
                return
            except BaseException:
                self._put_back(lane, number)
                raise
            future.add_both(functools.partial(self._settle, self._client, topic, number))

    def _put_back(self, lane: _Lane, number: int) -> None:
        with self._changed:
            record = lane.sent.pop(number)
            lane.waiting.appendleft(record)
            self._window -= record.size

    def _judge_missing(self, topic: TopicName, lane: _Lane) -> None:
        """Find out why a topic's partitions are unknown: no topic, or no broker (which raises)."""
        if not admin.missing(self._link, [topic]):
            lane.missing_until = 0.0
            return
        if not lane.missing_until:
            logger.error("%s", admin.missing_text(self._link, [topic]))
        lane.missing_until = time.monotonic() + RETRY_SECONDS

    def _settle(self, client: Any, topic: TopicName, number: int, outcome: Any) -> None:
        """Take Kafka's verdict on one message; runs in kafka-python's thread."""
        with self._changed:
            lane = self._lanes[topic]
            if client is not self._client or number not in lane.sent:
                return
            refused = isinstance(outcome, _REFUSALS)
            if isinstance(outcome, BaseException) and not refused:
                self._failure = self._failure or outcome
            else:
                self._done(topic, lane, number, refused)
            self._changed.notify_all()
        if refused:
            logger.error("lost a message of %s: %s", topic, self._link.explain(outcome))

    def _done(self, topic: TopicName, lane: _Lane, number: int, refused: bool) -> None:
        record = lane.sent.pop(number)
        lane.missing_until = 0.0
        self._window -= record.size
        self._account(-1, -record.size)
        self._losses += refused
        metrics = self._link.metrics
        (metrics.errors if refused else metrics.published).labels(topic).inc()
        self._heard = time.monotonic()
        self._link.answered()

    def _renew(self) -> None:
        """Give a failed client up and let its messages wait for the next, in order."""
        logger.warning("the Kafka producer failed (%s); a new one sends again", self._failure)
        _discard(self._client)
        with self._changed:
            self._client, self._failure, self._window = None, None, 0
            resent = sum(lane.rewind() for lane in self._lanes.values())
        self._link.metrics.resent.inc(resent)

    def _watch(self) -> None:
        """Notice a broker that acknowledges nothing."""
        if not self._window:
            self._heard = time.monotonic()
        elif time.monotonic() - self._heard > SILENT_SECONDS:
            self._link.silent()

    def _pause(self, error: BaseException) -> None:
        """Wait before the next try: a second while Kafka is away, longer if it refuses us."""
        if passing(error):
            self._link.silent(error)
            seconds = 1.0
        else:
            self._refuse(self._link.explain(error))
            seconds = RETRY_SECONDS
        with self._changed:
            self._changed.wait_for(lambda: self._closing, timeout=seconds)

    def _refuse(self, refusal: BusError) -> None:
        if str(self._refusal) != str(refusal):
            logger.error("%s", refusal)
        with self._changed:
            self._refusal = refusal
            self._changed.notify_all()


def _record(
    topic: TopicName, key: str, value: bytes | None, headers: list[tuple[str, bytes]]
) -> _Record:
    name = key.encode()
    size = len(name) + len(value or b"") + sum(len(h) + len(v) for h, v in headers)
    if size + OVERHEAD_BYTES > MAX_MESSAGE_BYTES:
        text = f"a message of {size} bytes for {topic} is larger than {MAX_MESSAGE_BYTES}"
        raise BusError(text)
    return _Record(name, value, headers, size + OVERHEAD_BYTES)


def _discard(client: Any) -> None:
    """Close a client with whatever it still holds.

    kafka-python's own close() raises, and lets nothing go, while messages are outstanding; so its
    sender is stopped first. Futures of what it held then fail.
    """
    if client is None:
        return
    client._sender.force_close()
    client._sender.join(timeout=2)
    client.close(timeout=1)
