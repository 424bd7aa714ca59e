"""Dead letters: what could not be used is counted, kept with its reason, and the rest goes on."""

import logging
import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter

from forewarn import wire
from forewarn.bus import Message, Producer
from forewarn.errors import BusError
from forewarn.records import DeadLetter

logger = logging.getLogger(__name__)
MAX_PAYLOAD = 64 * 1024


class DeadLetters:
    """Sends dead letters to their topic and counts them by reason."""

    def __init__(
        self,
        producer: Producer,
        source: str,
        registry: CollectorRegistry,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._producer, self._source, self._clock = producer, source, clock
        self._told: set[str] = set()
        self._count = Counter(
            "forewarn_dead_letters",
            "Records that could not be used, by reason; they stand in the dead-letter topic.",
            ["reason"],
            registry=registry,
        )

    def send(self, reason: str, text: str, message: Message) -> None:
        """Bury the bytes of a bus message."""
        self.bury(reason, text, message.value, message.topic, message.partition, message.offset)

    def bury(
        self,
        reason: str,
        text: str,
        payload: bytes,
        topic: str = "",
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        """Bury bytes that came from `topic` (empty: from outside the bus).

        `reason` must be from a closed list: it labels a metric.
        """
        self._count.labels(reason).inc()
        self._log(reason, text, topic, partition, offset)
        letter = DeadLetter(
            reason, text[:2000], self._source, topic, partition, offset,
            self._clock(), payload[:MAX_PAYLOAD],
        )  # fmt: skip
        try:
            self._producer.publish("deadletter", self._source, wire.encode_deadletter(letter))
        except BusError as error:
            logger.error("dead letter lost from the bus, still counted: %s", error)

    def _log(self, reason: str, text: str, topic: str, partition: int, offset: int) -> None:
        """Tell the first of each reason loudly; the count and the topic hold the others."""
        level = logging.DEBUG if reason in self._told else logging.WARNING
        self._told.add(reason)
        where = f"{topic}[{partition}]@{offset}" if topic else self._source
        logger.log(level, "dead letter (%s) from %s: %s", reason, where, text)
