"""The bus: how records travel between the stages. One contract, two buses (memory, Kafka)."""

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

import msgspec

TopicName = Literal[
    "frames", "jobs", "events", "inventory", "findings", "incidents", "state", "deadletter"
]
Position = tuple[str, int]  # topic, partition
MAX_MESSAGE_BYTES = 4 * 2**20  # of key, value and headers; a frame of 20,000 readings has 0.5 MiB


class Topic(msgspec.Struct, frozen=True):
    """One topic: what its key is, how many partitions it has, how long it keeps."""

    name: TopicName
    key: str
    partitions: int  # at least; frames have this many per 1,000 nodes
    per_1000_nodes: bool
    retention_seconds: int | None
    retention_bytes: int | None
    compacted: bool
    help: str

    def partitions_for(self, nodes: int) -> int:
        """Return the number of partitions for a cluster of `nodes`."""
        if not self.per_1000_nodes:
            return self.partitions
        return max(self.partitions, self.partitions * -(-nodes // 1000))


_HOUR, _DAY = 3600, 86400
TOPICS: dict[TopicName, Topic] = {
    topic.name: topic
    for topic in (
        Topic("frames", "node", 8, True, 2 * _HOUR, 50 * 10**9, False, "readings of a node"),
        Topic("jobs", "job", 8, False, 6 * _HOUR, None, False, "readings of a job and its ranks"),
        Topic("events", "node", 8, False, 7 * _DAY, None, False, "events with a code"),
        Topic("inventory", "entity", 8, False, None, None, True, "what is where, latest wins"),
        Topic("findings", "entity", 8, False, 3 * _DAY, None, False, "what is wrong"),
        Topic("incidents", "incident", 1, False, 30 * _DAY, None, True, "incidents, CloudEvents"),
        Topic("state", "partition#block", 8, False, None, None, True, "detector state"),
        Topic("deadletter", "source", 1, False, 7 * _DAY, None, False, "what could not be used"),
    )
}


class Message(msgspec.Struct, frozen=True):
    """One message as a consumer sees it; `append_time_unix_nano` is the clock of the stream."""

    topic: TopicName
    key: str
    value: bytes
    partition: int
    offset: int
    append_time_unix_nano: int
    headers: tuple[tuple[str, bytes], ...] = ()


class Producer(Protocol):
    """Publishes; order is kept per topic and key."""

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Hand over one message (None is a tombstone of a compacted topic); may buffer.

        Raises BusError when it is certain that the message cannot be taken.
        """

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until all that was published is acknowledged; say whether it was in time."""

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Flush and let go."""


class Consumer(Protocol):
    """Reads a set of topics."""

    def poll(self, timeout_seconds: float, max_messages: int = 1000) -> list[Message]:
        """Return what is there, waiting at most the time given.

        Order is kept per partition, and partitions are merged by append time: among them, too, an
        earlier message comes first, as far as it could be there yet.
        """

    def commit(self) -> None:
        """Remember (for the group) that all polled messages are done with."""

    def positions(self) -> Mapping[Position, int]:
        """Return the next offset of every assigned partition."""

    def lag(self) -> int:
        """Return how many messages are there that were not polled yet."""

    def answers(self) -> bool:
        """Say whether the bus is there: without it, that nothing comes says nothing of senders."""
        return True

    def close(self) -> None:
        """Leave the group and let go."""


class Bus(Protocol):
    """Makes producers and consumers."""

    def producer(self) -> Producer:
        """Return a new producer."""

    def consumer(
        self,
        topics: Iterable[TopicName],
        group: str | None,
        start: Mapping[Position, int] | None = None,
        from_beginning: Iterable[TopicName] = (),
    ) -> Consumer:
        """Return a new consumer.

        With a `group` partitions are shared among its members and `commit` is remembered. Without
        one, all partitions are read: from `start` where given, topics of `from_beginning` from
        their first message, all others from now on.
        """

    def close(self) -> None:
        """Let go of what is shared."""
