"""What a Kafka bus says about itself on /metrics."""

from prometheus_client import CollectorRegistry, Counter, Gauge

from forewarn.bus import TOPICS


class BusMetrics:
    """The metrics of one bus; every client of the bus adds to them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        topic = ["topic"]
        self.up = Gauge(
            "forewarn_bus_up", "1 while Kafka answers, 0 while it is away.", registry=registry
        )
        self.crc32c = Gauge(
            "forewarn_kafka_crc32c_native",
            "1 with the native crc32c, 0 with the Python one, which is eight times slower.",
            registry=registry,
        )
        self.published = Counter(
            "forewarn_bus_published", "Messages acknowledged by Kafka.", topic, registry=registry
        )
        self.errors = Counter(
            "forewarn_bus_publish_errors",
            "Messages taken and then refused by Kafka for good: they are lost.",
            topic,
            registry=registry,
        )
        self.resent = Counter(
            "forewarn_bus_resent",
            "Messages sent again, in order, by a new client after a failed one.",
            registry=registry,
        )
        self.buffered = Gauge(
            "forewarn_bus_buffered_messages",
            "Messages published and not acknowledged yet.",
            registry=registry,
        )
        self.buffered_bytes = Gauge(
            "forewarn_bus_buffered_bytes", "Bytes of the buffered messages.", registry=registry
        )
        self.consumed = Counter(
            "forewarn_bus_consumed", "Messages polled from Kafka.", topic, registry=registry
        )
        self.lag = Gauge(
            "forewarn_bus_lag_messages",
            "Messages in the topic that were not polled yet, as of the latest answer.",
            topic,
            registry=registry,
        )
        self.gaps = Counter(
            "forewarn_bus_gaps",
            "Partitions that no longer held the offset to go on from: messages were missed.",
            topic,
            registry=registry,
        )
        for name in TOPICS:  # a rate sees the first loss only from 0
            self.errors.labels(name)
            self.gaps.labels(name)
        self.commit_failures = Counter(
            "forewarn_bus_commit_failures",
            "Commits that failed; the next one covers them, or the messages come again.",
            registry=registry,
        )
