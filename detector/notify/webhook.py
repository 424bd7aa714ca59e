"""Tells over HTTP: one POST an attempt, signed, no redirects, to a checked address."""

import logging
import ssl
import time
from collections.abc import Callable, Iterable
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx

from detector.notify.address import AddressError, Resolver, allowed, check_url, resolve
from detector.notify.channel import Channel, Outcome, Result
from detector.notify.outbox import Row
from detector.notify.signature import keys, sign
from forewarn import __version__
from forewarn.config import Webhook

RETRIED = frozenset({408, 425, 429})  # besides 5xx
# httpx tells every request with its URL, and a URL may hold a token: a filter, not a level, so that
# no setting of levels brings it back.
logging.getLogger("httpx").addFilter(lambda record: record.levelno >= logging.WARNING)
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
        check_url(webhook.url, webhook.name)
        self.name = webhook.name
        self._url, self._clock, self._resolver = webhook.url, clock, resolver
        self._keys = keys(webhook.secret.read() or "", f"webhook {webhook.name}: secret")
        # The system's certificates, not a bundle of the library: operators add their own there.
        self._client = httpx.Client(
            verify=verify or ssl.create_default_context(),
            timeout=webhook.timeout_seconds,
            follow_redirects=False,
            trust_env=False,
        )

    @property
    def is_signed(self) -> bool:
        """Say whether a secret is set."""
        return bool(self._keys)

    def send(self, row: Row) -> Result:
        """Make one attempt at the first address that can be reached."""
        parts = urlsplit(self._url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            addresses = allowed(self._resolver(parts.hostname or "", port))
        except AddressError as error:
            return Result("retry", str(error))
        return self._first_reached(addresses, row)

    def _first_reached(self, addresses: Iterable[str], row: Row) -> Result:
        last = Result("retry", "host has no address")
        for address in addresses:
            try:
                return self._post(address, row)
            except httpx.ConnectError as error:
                last = Result("retry", f"cannot connect: {type(error).__name__}")
            except httpx.TransportError as error:
                return Result("retry", f"no answer: {type(error).__name__}")
        return last

    def _post(self, address: str, row: Row) -> Result:
        """Connect to the checked address itself; name and certificate are the host's own."""
        url = httpx.URL(self._url)
        headers = {**self._headers(row), "host": url.netloc.decode()}
        with self._client.stream(
            "POST",
            url.copy_with(host=address),
            content=row.note.body,
            headers=headers,
            extensions={"sni_hostname": url.host},
        ) as response:
            return classify(response.status_code, response.headers, self._clock())

    def _headers(self, row: Row) -> dict[str, str]:
        seconds = self._clock() // 1_000_000_000
        headers = {
            "content-type": CONTENT_TYPE,
            "user-agent": f"forewarn/{__version__}",
            "webhook-id": row.note.webhook_id,
            "webhook-timestamp": str(seconds),
        }
        if self._keys:
            signature = sign(self._keys, row.note.webhook_id, seconds, row.note.body)
            headers["webhook-signature"] = signature
        return headers

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def classify(status: int, headers: httpx.Headers, now_unix_nano: int) -> Result:
    """Say what an HTTP status means; a redirect is permanent, since it is never followed."""
    outcome: Outcome = "permanent"
    if 200 <= status < 300:
        outcome = "ok"
    elif status == HTTPStatus.GONE:
        outcome = "gone"
    elif status in RETRIED or status >= 500:
        outcome = "retry"
    wait = headers.get("retry-after") if outcome == "retry" else None
    return Result(outcome, f"HTTP {status}", retry_after(wait, now_unix_nano))


def retry_after(value: str | None, now_unix_nano: int) -> float | None:
    """Return seconds to wait from seconds or an HTTP date; None where it is neither."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return max(0.0, moment - now_unix_nano / 1e9)
