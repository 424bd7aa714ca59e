"""Tells over HTTP: a CloudEvent, signed after Standard Webhooks."""

import ssl
import time
from collections.abc import Callable

from detector.notify.address import Resolver, resolve
from detector.notify.channel import Channel, Result
from detector.notify.outbox import Row
from detector.notify.posting import Poster
from detector.notify.signature import keys, sign
from forewarn.config import Webhook

CONTENT_TYPE = "application/cloudevents+json; charset=utf-8"


class WebhookChannel(Channel):
    """One webhook of the settings.

    Raises:
        ConfigError: if its URL or secret cannot be used.

    """

    def __init__(
        self,
        webhook: Webhook,
        clock: Callable[[], int] = time.time_ns,
        resolver: Resolver = resolve,
        verify: ssl.SSLContext | None = None,
    ) -> None:
        self.name, self._clock = webhook.name, clock
        self._keys = keys(webhook.secret.read() or "", f"webhook {webhook.name}: secret")
        self._poster = Poster(
            webhook.url, webhook.name, webhook.timeout_seconds, clock, resolver, verify
        )

    @property
    def is_signed(self) -> bool:
        """Say whether a secret is set."""
        return bool(self._keys)

    def send(self, row: Row) -> Result:
        """Make one attempt."""
        return self._poster.post(row.note.body, self._headers(row))

    def _headers(self, row: Row) -> dict[str, str]:
        seconds = self._clock() // 1_000_000_000
        headers = {
            "content-type": CONTENT_TYPE,
            "webhook-id": row.note.webhook_id,
            "webhook-timestamp": str(seconds),
        }
        if self._keys:
            signature = sign(self._keys, row.note.webhook_id, seconds, row.note.body)
            headers["webhook-signature"] = signature
        return headers

    def close(self) -> None:
        """Close the connections."""
        self._poster.close()
