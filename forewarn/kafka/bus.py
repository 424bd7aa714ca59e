"""The bus over a Kafka cluster: makes producers and consumers, and closes what is left open."""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry

from forewarn import config
from forewarn.bus import Bus, Consumer, Position, Producer, TopicName
from forewarn.kafka.consumer import KafkaBusConsumer
from forewarn.kafka.link import Link
from forewarn.kafka.metrics import BusMetrics
from forewarn.kafka.producer import BUFFER_BYTES, KafkaBusProducer


class KafkaBus(Bus):
    """A bus over Kafka. `client_id` is what the broker's logs and quotas call us.

    Each producer holds at most `buffer_bytes` of messages that Kafka did not acknowledge yet.

    Raises:
        ConfigError: if a secret or a TLS file named in the settings cannot be read.

    """

    def __init__(
        self,
        settings: config.Kafka,
        client_id: str,
        registry: CollectorRegistry,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> None:
        self._link = Link(settings, client_id, BusMetrics(registry))
        self._buffer_bytes = buffer_bytes
        self._open: list[Producer | Consumer] = []

    def producer(self) -> Producer:
        """Return a producer; it connects by itself, and again after each outage."""
        producer = KafkaBusProducer(self._link, self._buffer_bytes)
        self._open.append(producer)
        return producer

    def consumer(
        self,
        topics: Iterable[TopicName],
        group: str | None,
        start: Mapping[Position, int] | None = None,
        from_beginning: Iterable[TopicName] = (),
    ) -> Consumer:
        """Return a consumer, connected if Kafka answers; else it goes on trying at each poll.

        Raises:
            BusError: if a topic is missing or access is refused.

        """
        consumer = KafkaBusConsumer(
            self._link, tuple(topics), group, dict(start or {}), frozenset(from_beginning)
        )
        self._open.append(consumer)
        return consumer

    def close(self) -> None:
        """Close the producers and consumers that are still open."""
        while self._open:
            self._open.pop().close()
