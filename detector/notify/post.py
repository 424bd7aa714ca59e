"""All channels of the settings with their deliveries, and what happens to a note given up."""

import hashlib
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry

from detector.notify.alertmanager import AlertmanagerChannel, Timing
from detector.notify.channel import Channel
from detector.notify.delivery import Delivery
from detector.notify.formats import FORMATS, Undelivered
from detector.notify.outbox import Note, Outbox, Row
from detector.notify.telemetry import DeliveryMetrics
from detector.notify.topic import NAME as TOPIC
from detector.notify.topic import TopicChannel
from detector.notify.webhook import WebhookChannel
from forewarn.bus import Producer
from forewarn.config import Settings, Webhook
from forewarn.deadletter import DeadLetters
from forewarn.errors import ConfigError

logger = logging.getLogger(__name__)
STOP_SECONDS = 2.0  # of the 5 s within which every stage ends


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
        dead: DeadLetters,
        clock: Callable[[], int] = time.time_ns,
        timing: Timing | None = None,
    ) -> None:
        self._cluster, self._outbox, self._dead = settings.cluster, outbox, dead
        self._metrics, self._clock, self._timing = DeliveryMetrics(registry), clock, timing
        if any(own.name == TOPIC for own in settings.webhook):
            raise ConfigError(f"webhook {TOPIC}: name is that of the topic; choose another")
        self._formats = {own.name: own.format for own in settings.webhook} | {TOPIC: "generic"}
        webhooks = [self._webhook(own) for own in settings.webhook]
        self._deliveries = [self._delivery(own) for own in (*webhooks, TopicChannel(producer))]
        self._metrics.watch_pending([own.channel.name for own in self._deliveries], outbox.pending)

    def _webhook(self, webhook: Webhook) -> Channel:
        # Kept as a hash: a URL may be a secret. A channel that was gone is tried at a new URL.
        self._outbox.register(webhook.name, hashlib.sha256(webhook.url.encode()).hexdigest())
        if webhook.format == "alertmanager":
            return AlertmanagerChannel(webhook, self._outbox.database, self._clock, self._timing)
        channel = WebhookChannel(webhook, self._clock)
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
        told = f"channel {channel}: {reason}"
        self._dead.bury("undelivered", told, row.note.body, "incidents", 0, row.id)
        if row.note.kind == "alert":
            return  # an alert about an alert would go round in circles
        lost = self._undelivered(channel, row, reason)
        others = [name for name in self._formats if name != channel]
        self._outbox.add(_note(lost, other, self._formats[other]) for other in others)
        self.wake()

    def _undelivered(self, channel: str, row: Row, reason: str) -> Undelivered:
        return Undelivered(
            self._cluster, channel, row.note.incident, row.note.webhook_id, row.attempts + 1,
            reason, f"undelivered:{channel}:{row.id}", self._clock(),
        )  # fmt: skip


def _note(lost: Undelivered, other: str, format_: str) -> Note:
    """Word the loss for another channel; one a row that was given up."""
    body = FORMATS[format_].undelivered(lost)
    about = f"channel/{lost.channel}"
    return Note(other, about, lost.key, "alert", body, lost.time_unix_nano)
