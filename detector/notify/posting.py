"""One POST an attempt: no redirects, to a checked address, what the answer means."""

import logging
import ssl
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from detector.notify.address import AddressError, Resolver, check_url, reached, resolve
from detector.notify.channel import Outcome, Result
from forewarn import __version__

RETRIED = frozenset({408, 425, 429})  # besides 5xx
# httpx tells every request with its URL, and a URL may hold a token: a filter, not a level, so that
# no setting of levels brings it back.
logging.getLogger("httpx").addFilter(lambda record: record.levelno >= logging.WARNING)


class Poster:
    """Posts to one URL.

    Raises:
        ConfigError: if the URL cannot be used; it names `name`, never the URL.

    """

    def __init__(
        self,
        url: str,
        name: str,
        timeout_seconds: float,
        clock: Callable[[], int],
        resolver: Resolver = resolve,
        verify: ssl.SSLContext | None = None,
    ) -> None:
        check_url(url, name)
        self._url, self._clock, self._resolver = url, clock, resolver
        # The system's certificates, not a bundle of the library: operators add their own there.
        self._client = httpx.Client(
            verify=verify or ssl.create_default_context(),
            timeout=timeout_seconds,
            follow_redirects=False,
            trust_env=False,
        )

    def post(self, body: bytes, headers: Mapping[str, str]) -> Result:
        """Make one attempt at the first address that can be reached; it never raises."""
        try:
            addresses = reached(self._url, self._resolver)
        except AddressError as error:
            return Result("retry", str(error))
        return self._first_reached(addresses, body, headers)

    def _first_reached(
        self, addresses: Iterable[str], body: bytes, headers: Mapping[str, str]
    ) -> Result:
        last = Result("retry", "host has no address")
        for address in addresses:
            try:
                return self._at(address, body, headers)
            except httpx.ConnectError as error:
                last = Result("retry", f"cannot connect: {type(error).__name__}")
            except httpx.TransportError as error:
                return Result("retry", f"no answer: {type(error).__name__}")
        return last

    def _at(self, address: str, body: bytes, headers: Mapping[str, str]) -> Result:
        """Connect to the checked address itself; name and certificate are the host's own."""
        url = httpx.URL(self._url)
        own = {"user-agent": f"forewarn/{__version__}", "host": url.netloc.decode()}
        with self._client.stream(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers={**headers, **own},
            extensions={"sni_hostname": url.host},
        ) as response:
            return classify(response.status_code, response.headers, self._clock())

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
