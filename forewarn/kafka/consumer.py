"""Reading from Kafka: in a group, or all partitions from offsets that the caller keeps."""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

import kafka.errors as kafka_errors
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

from forewarn.bus import TOPICS, Consumer, Message, Position, TopicName
from forewarn.errors import BusError
from forewarn.kafka import admin
from forewarn.kafka.link import CONNECT_SECONDS, Link, passing
from forewarn.kafka.merge import Merge

logger = logging.getLogger(__name__)
SESSION_MS = 10_000  # a dead worker's partitions move after this
HEARTBEAT_MS = 1_000  # a member learns of a new one by its heartbeat
CALL_MS = 2_000
LOOK_SECONDS = 2.0  # how often an idle consumer asks whether Kafka is there
ENDS_SECONDS = 1.0  # how long the ends of the partitions are taken from the latest answer
HOLD_SECONDS = 5.0  # a partition whose leader is away holds the others up no longer than this
_LOG_APPEND_TIME = 1
_NANOSECONDS = 1_000_000


class KafkaBusConsumer(Consumer):
    """A consumer that waits out an absent broker; only what cannot pass by itself is raised."""

    def __init__(
        self,
        link: Link,
        topics: tuple[TopicName, ...],
        group: str | None,
        start: dict[Position, int],
        from_beginning: frozenset[TopicName],
    ) -> None:
        self._link, self._topics, self._group = link, topics, group
        self._start, self._from_beginning = start, from_beginning
        self._client: Any = None
        self._next_look = self._ends_until = 0.0
        self._ends: dict[Any, int] = {}
        self._uncommitted = False
        self._merge: Merge[Any] = Merge()
        self._held_since = 0.0
        self._told_times: set[TopicName] = set()
        self._commits_fail = False
        self._reach()

    def poll(self, timeout_seconds: float, max_messages: int = 1000) -> list[Message]:
        """Return what is there, waiting at most the time given; nothing while Kafka is away.

        Raises:
            BusError: if Kafka refuses us or a topic is missing.

        """
        deadline = time.monotonic() + timeout_seconds
        if self._client is None and not self._reach():
            time.sleep(min(timeout_seconds, 1.0))
            return []
        messages = self._due(max_messages) if len(self._merge) else []
        while not messages:
            self._fetch(max(0.0, deadline - time.monotonic()), max_messages)
            messages = self._due(max_messages)
            if time.monotonic() >= deadline:
                break
        self._note(messages)
        return messages

    def _fetch(self, timeout_seconds: float, max_messages: int) -> None:
        try:
            batches = self._client.poll(int(timeout_seconds * 1000), max_records=max_messages)
        except (kafka_errors.KafkaError, OSError) as error:
            self._bear(error)
            return
        if not len(self._merge):
            self._held_since = time.monotonic()
        for at, records in batches.items():
            self._merge.add(at, [self._message(record) for record in records])
        if batches:
            self._ask_ends()

    def _due(self, limit: int) -> list[Message]:
        """Return messages in the order of their append times; stop fetching what is far ahead."""
        assigned = self._client.assignment()
        self._merge.keep(assigned)
        messages = self._merge.take(limit, self._behind(assigned))
        if not messages and time.monotonic() - self._held_since > HOLD_SECONDS:
            messages = self._merge.take(limit, ())
        if messages:
            self._held_since = time.monotonic()
        self._throttle(assigned)
        return messages

    def _behind(self, assigned: Iterable[Any]) -> list[Any]:
        """Return the partitions with more at the broker, as of its latest answers."""
        found = []
        for at in assigned:
            fetched = self._position(at, fetched=True)
            if fetched is None or fetched < max(
                self._client.highwater(at) or 0, self._ends.get(at, 0)
            ):
                found.append(at)
        return found

    def _throttle(self, assigned: Set[Any]) -> None:
        full, paused = self._merge.full() & assigned, self._client.paused()
        self._client.pause(*(full - paused))
        self._client.resume(*(paused - full))

    def commit(self) -> None:
        """Remember, for the group, all that was polled; a commit that fails is covered by the next.

        Raises:
            BusError: if Kafka refuses us.

        """
        if self._group is None or self._client is None or not self._uncommitted:
            return
        try:
            self._client.commit(self._offsets(), timeout_ms=CALL_MS)
            self._commits_fail = self._uncommitted = False
        except (kafka_errors.CommitFailedError, kafka_errors.RebalanceInProgressError) as error:
            self._commit_failed(error)
        except (kafka_errors.KafkaError, OSError) as error:
            self._bear(error)
            self._commit_failed(error)

    def _offsets(self) -> dict[Any, Any]:
        known = {at: self._position(at) for at in self._client.assignment()}
        return {
            at: OffsetAndMetadata(offset, "", -1)
            for at, offset in known.items()
            if offset is not None
        }

    def positions(self) -> Mapping[Position, int]:
        """Return the next offset of every assigned partition; before the first contact, `start`."""
        if self._client is None:
            return dict(self._start)
        found: dict[Position, int] = {}
        for at in self._client.assignment():
            offset = self._position(at)
            if offset is not None:
                found[self._link.topic(at.topic), at.partition] = offset
        return found

    def _position(self, at: Any, fetched: bool = False) -> int | None:
        """Return the offset after what was polled, or fetched; None while it is not known yet."""
        held = None if fetched else self._merge.next_offset(at)
        if held is not None:
            return held
        try:
            offset: int | None = self._client.position(at, timeout_ms=CALL_MS)
        except (kafka_errors.KafkaError, OSError) as error:
            self._bear(error)
            return None
        return offset

    def lag(self) -> int:
        """Return how many messages are there that were not polled yet, as of a second ago.

        While Kafka is away, the latest known number.
        """
        if self._client is None:
            return 0
        self._ask_ends()
        return self._measure(self._client.assignment())

    def answers(self) -> bool:
        """Say whether Kafka answered when it was asked last."""
        return self._client is not None and not self._link.away

    def _ask_ends(self) -> None:
        """Ask where the partitions end; the answer is good for a second."""
        assigned, now = self._client.assignment(), time.monotonic()
        if not assigned or (now < self._ends_until and assigned <= self._ends.keys()):
            return
        self._ends_until = now + ENDS_SECONDS
        try:
            self._ends = self._client.end_offsets(list(assigned), timeout_ms=CALL_MS)
            self._link.answered()
        except (kafka_errors.KafkaError, OSError) as error:
            self._bear(error)

    def close(self) -> None:
        """Leave the group and let go."""
        if self._client is not None:
            self._client.close(autocommit=False, timeout_ms=CALL_MS)

    def _reach(self) -> bool:
        """Connect; False while Kafka is away."""
        client = None
        try:
            client = self._connect()
            self._take(client)
        except (kafka_errors.KafkaError, OSError) as error:
            _close(client)
            self._bear(error)
            return False
        except BusError:
            _close(client)
            raise
        self._client = client
        return True

    def _connect(self) -> Any:
        """Return a client; cooperative, so that a partition that stays is not read twice."""
        own = {"session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": HEARTBEAT_MS}
        return self._link.connect(
            KafkaConsumer,
            CONNECT_SECONDS,
            group_id=self._group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            partition_assignment_strategy=(CooperativeStickyAssignor(),),
            allow_auto_create_topics=False,
            metrics_enabled=False,
            **(own if self._group else {}),
        )

    def _take(self, client: Any) -> None:
        """Subscribe, or take all partitions, once all topics are known to be there."""
        there = client.topics()
        absent = [topic for topic in self._topics if self._link.name(topic) not in there]
        if absent:
            raise BusError(admin.missing_text(self._link, absent))
        if self._group is not None:
            client.subscribe([self._link.name(topic) for topic in self._topics])
            return
        partitions = self._partitions(client)
        client.assign(partitions)
        for at, offset in self._begin(client, partitions).items():
            client.seek(at, offset)

    def _partitions(self, client: Any) -> list[Any]:
        names = [self._link.name(topic) for topic in self._topics]
        return [
            TopicPartition(name, partition)
            for name in names
            for partition in sorted(client.partitions_for_topic(name))
        ]

    def _begin(self, client: Any, partitions: Iterable[Any]) -> dict[Any, int]:
        """Return where to start; an offset that is gone is told, counted, and the first taken."""
        partitions = list(partitions)
        first = client.beginning_offsets(partitions, timeout_ms=CALL_MS)
        end = client.end_offsets(partitions, timeout_ms=CALL_MS)
        return {at: self._begin_one(at, first[at], end[at]) for at in partitions}

    def _begin_one(self, at: Any, first: int, end: int) -> int:
        topic = self._link.topic(at.topic)
        if (topic, at.partition) not in self._start:
            return first if topic in self._from_beginning else end
        offset = self._start[topic, at.partition]
        if first <= offset <= end or (TOPICS[topic].compacted and offset <= end):
            return max(first, offset)
        self._link.metrics.gaps.labels(topic).inc()
        logger.error(
            "%s[%d]: offset %d is gone, going on from %d: messages were missed",
            at.topic, at.partition, offset, first,
        )  # fmt: skip
        return first

    def _message(self, record: Any) -> Message:
        topic = self._link.topic(record.topic)
        if record.timestamp_type != _LOG_APPEND_TIME and topic not in self._told_times:
            self._told_times.add(topic)
            logger.error("%s has no append times: see `forewarn topics describe`", record.topic)
        return Message(
            topic,
            (record.key or b"").decode(errors="replace"),
            record.value or b"",
            record.partition,
            record.offset,
            record.timestamp * _NANOSECONDS,
            tuple(record.headers),
        )

    def _note(self, messages: list[Message]) -> None:
        """Count what came; an idle consumer looks now and then whether Kafka is still there."""
        for topic, count in Counter(message.topic for message in messages).items():
            self._link.metrics.consumed.labels(topic).inc(count)
        now = time.monotonic()
        if messages:
            self._uncommitted = True
            self._link.answered()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        try:
            self._take_new_partitions()
        except (kafka_errors.KafkaError, OSError) as error:
            self._bear(error)
        self.lag()

    def _take_new_partitions(self) -> None:
        """Read partitions that were added, from their first message."""
        if self._group is not None:
            return
        partitions = self._partitions(self._client)
        new = [at for at in partitions if at not in self._client.assignment()]
        if new:
            logger.info("%d new partitions: %s", len(new), new)
            self._client.assign(partitions)
            for at in new:
                self._client.seek(at, 0)

    def _measure(self, assigned: Iterable[Any]) -> int:
        """Set the lag of each topic from the ends last heard of; return their sum."""
        lags: Counter[TopicName] = Counter(dict.fromkeys(self._topics, 0))
        for at in assigned:
            here = self._position(at)
            if here is not None:
                lags[self._link.topic(at.topic)] += max(0, self._ends.get(at, here) - here)
        for topic, count in lags.items():
            self._link.metrics.lag.labels(topic).set(count)
        return lags.total()

    def _bear(self, error: BaseException) -> None:
        """Wait out what may pass; raise the rest in our words."""
        if not passing(error):
            raise self._link.explain(error) from error
        self._link.silent(error)

    def _commit_failed(self, error: BaseException) -> None:
        """Count it, and tell the first of a row: a rebalance fails some."""
        self._link.metrics.commit_failures.inc()
        level = logging.DEBUG if self._commits_fail else logging.WARNING
        self._commits_fail = True
        logger.log(level, "a commit failed, messages may come again: %s", error)


def _close(client: Any) -> None:
    if client is not None:
        client.close(autocommit=False, timeout_ms=CALL_MS)
