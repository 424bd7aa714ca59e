"""All channels of the settings with their deliveries, and what happens to a note given up."""

import hashlib
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry

from detector.notify.channel import Channel
from detector.notify.delivery import Delivery
from detector.notify.formats.alert import alert_note
from detector.notify.outbox import Outbox, Row
from detector.notify.telemetry import DeliveryMetrics
from detector.notify.topic import NAME as TOPIC
from detector.notify.topic import TopicChannel
from detector.notify.webhook import WebhookChannel
from forewarn import wire
from forewarn.bus import Producer
from forewarn.config import Settings, Webhook
from forewarn.errors import BusError, ConfigError
from forewarn.records import DeadLetter

logger = logging.getLogger(__name__)
STOP_SECONDS = 2.0  # of the 5 s within which every stage ends
MAX_PAYLOAD = 64 * 1024  # of a dead letter


class Post:
    """Delivers for every channel; a context manager that starts and stops them.

    Raises:
        ConfigError: if a webhook cannot be used.

    """

    def __init__(
        self,
        settings: Settings,
        outbox: Outbox,
        producer: Producer,
        registry: CollectorRegistry,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._cluster, self._outbox, self._producer = settings.cluster, outbox, producer
        self._metrics, self._clock = DeliveryMetrics(registry), clock
        if any(own.name == TOPIC for own in settings.webhook):
            raise ConfigError(f"webhook {TOPIC}: name is that of the topic; choose another")
        webhooks = [self._webhook(own) for own in settings.webhook]
        self._deliveries = [self._delivery(own) for own in (*webhooks, TopicChannel(producer))]
        self._metrics.watch_pending([own.channel.name for own in self._deliveries], outbox.pending)

    def _webhook(self, webhook: Webhook) -> Channel:
        channel = WebhookChannel(webhook, self._clock)
        # Kept as a hash: a URL may be a secret. A channel that was gone is tried at a new URL.
        self._outbox.register(webhook.name, hashlib.sha256(webhook.url.encode()).hexdigest())
        if not channel.is_signed:
            logger.warning("webhook %s has no secret: it is sent unsigned", webhook.name)
        return channel

    def _delivery(self, channel: Channel) -> Delivery:
        return Delivery(channel, self._outbox, self._metrics, self.given_up, self._clock)

    def __enter__(self) -> Self:
        for name, reason in self._outbox.disabled().items():
            logger.error("webhook %s is disabled (%s): change its URL to use it", name, reason)
        names = [own.channel.name for own in self._deliveries]
        if left := self._outbox.retire(names, self._clock()):
            logger.warning("notes for channels that are no longer in the settings: %d", left)
        for delivery in self._deliveries:
            delivery.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        end = time.monotonic() + STOP_SECONDS
        for delivery in self._deliveries:
            delivery.ask_to_stop()
        for delivery in self._deliveries:
            delivery.join(max(0.0, end - time.monotonic()))

    def wake(self) -> None:
        """Say that there may be something to deliver."""
        for delivery in self._deliveries:
            delivery.wake()

    def given_up(self, channel: str, row: Row, reason: str) -> None:
        """Bury a note that will never be delivered, and tell of it on the other webhooks."""
        self._metrics.given_up(channel)
        logger.error("channel %s: note %s given up: %s", channel, row.note.webhook_id, reason)
        self._bury(channel, row, reason)
        if row.note.kind == "alert":
            return  # an alert about an alert would go round in circles
        others = [own.channel.name for own in self._deliveries if own.channel.name != channel]
        note = alert_note(self._cluster, channel, row, reason, self._clock())
        self._outbox.add(note(other) for other in others)
        self.wake()

    def _bury(self, channel: str, row: Row, reason: str) -> None:
        letter = DeadLetter(
            "undelivered", f"channel {channel}: {reason}"[:2000], "decide", "incidents", 0, row.id,
            self._clock(), row.note.body[:MAX_PAYLOAD],
        )  # fmt: skip
        try:
            self._producer.publish("deadletter", "decide", wire.encode_deadletter(letter))
        except BusError as error:
            logger.error("dead letter lost from the bus, still in the outbox: %s", error)
