"""Tells an Alertmanager, and goes on telling it: what it is not told again ends there by itself.

It keeps alerts in memory only and forgets them when it restarts, so whatever fires is said again
every minute, with an end three times as far ahead; the end of an incident is said again for a
while. Several peers are several channels, each told by itself, as Alertmanager's own clients do.
"""

import ssl
import time
from collections.abc import Callable, Iterable, Iterator

import msgspec

from detector.incidents.database import Database
from detector.notify.address import Resolver, resolve
from detector.notify.channel import Channel, Result
from detector.notify.formats.alertmanager import Alert
from detector.notify.formats.generic import rfc3339
from detector.notify.outbox import Row
from detector.notify.posting import Poster
from detector.notify.standing import Alerts, Standing
from forewarn.config import Webhook
from forewarn.records import NANOSECONDS

PATH = "/api/v2/alerts"
MAX_BYTES = 64 * 1024  # of one request


class Timing(msgspec.Struct, frozen=True):
    """How often what stands is said again, and for how long, in seconds.

    `resend` is what Prometheus uses (`--rules.alert.resend-delay`), `resolved` its retention of
    ended alerts. `hold` is how long an alert fires at least: Alertmanager never tells of one that
    ends within its `group_wait` (30 s unless set), and one restart of it costs a `resend` more.
    """

    resend: float = 60.0
    resolved: float = 900.0
    hold: float = 120.0

    @property
    def lifetime(self) -> float:
        """Return after how long an alert ends that is not said again: two may be lost."""
        return 3 * self.resend


class AlertmanagerChannel(Channel):
    """One Alertmanager; its URL is that of its start page.

    Raises:
        ConfigError: if its URL or secret cannot be used.

    """

    def __init__(
        self,
        webhook: Webhook,
        database: Database,
        clock: Callable[[], int] = time.time_ns,
        timing: Timing | None = None,
        resolver: Resolver = resolve,
        verify: ssl.SSLContext | None = None,
    ) -> None:
        self.name, self._clock, self._timing = webhook.name, clock, timing or Timing()
        self._alerts = Alerts(database, webhook.name)
        self._authorization = webhook.secret.read()
        self._remind_at = 0
        url = webhook.url.rstrip("/").removesuffix(PATH) + PATH
        self._poster = Poster(url, self.name, webhook.timeout_seconds, clock, resolver, verify)

    def send(self, row: Row) -> Result:
        """Make one attempt; only an end may be put off, until its alert has fired for a while."""
        try:
            alert = msgspec.json.decode(row.note.body, type=Alert)
        except msgspec.DecodeError:
            return Result("permanent", "note was written for another format")
        if row.note.kind == "alert":
            return self._post([alert])
        if row.note.kind == "resolve":
            return self._end(row.note.incident, alert)
        return self._fire(row.note.incident, alert)

    def _fire(self, incident: str, alert: Alert) -> Result:
        """Say that it fires; where severity or place changed, what it was before ends with it."""
        now = self._clock()
        gone = [own for own in self._alerts.firing(incident) if own.alert.labels != alert.labels]
        ended = [msgspec.structs.replace(own.alert, ends_at=rfc3339(now)) for own in gone]
        result = self._post([self._alive(alert, now), *ended])
        if result.outcome == "ok":
            self._alerts.keep(incident, alert, now)
            for own in ended:
                self._alerts.keep(incident, own, now, now)
        return result

    def _end(self, incident: str, alert: Alert) -> Result:
        """End what fires for the incident, under the labels that it fires with."""
        now, firing = self._clock(), self._alerts.firing(incident)
        if not firing:
            return Result("ok", "nothing of it stands there")
        if (wait := self._held(firing, now)) > 0 and "merged_into" not in alert.annotations:
            return Result("later", "fires too shortly to be noticed", wait)
        ended = [msgspec.structs.replace(alert, labels=own.alert.labels) for own in firing]
        result = self._post(ended)
        if result.outcome == "ok":
            for own in ended:
                self._alerts.keep(incident, own, now, now)
        return result

    def _held(self, firing: Iterable[Standing], now: int) -> float:
        begin = min(own.since_unix_nano for own in firing)
        return self._timing.hold - (now - begin) / NANOSECONDS

    def remind(self) -> Result | None:
        """Say again what stands, once a `resend`; a restarted Alertmanager knows nothing of it."""
        now = self._clock()
        if now < self._remind_at:
            return None
        self._remind_at = now + int(self._timing.resend * NANOSECONDS)
        self._alerts.forget(now - int(self._timing.resolved * NANOSECONDS))
        said = [self._again(own, now) for own in self._alerts.all()]
        results = [self._post_encoded(chunk) for chunk in chunks(said)]
        # One bad alert turns the whole answer into a 400, but the others are taken all the same.
        return next(
            (own for own in results if own.outcome != "ok"), results[0] if results else None
        )

    def _again(self, own: Standing, now: int) -> bytes:
        alert = own.alert if own.ended_at_unix_nano else self._alive(own.alert, now)
        return msgspec.json.encode(alert)

    def _alive(self, alert: Alert, now: int) -> Alert:
        ends = now + int(self._timing.lifetime * NANOSECONDS)
        return msgspec.structs.replace(alert, ends_at=rfc3339(ends))

    def _post(self, alerts: Iterable[Alert]) -> Result:
        results = [self._post_encoded(own) for own in chunks(map(msgspec.json.encode, alerts))]
        return next((own for own in results if own.outcome != "ok"), results[0])

    def _post_encoded(self, body: bytes) -> Result:
        headers = {"content-type": "application/json"}
        if self._authorization:
            headers["authorization"] = self._authorization
        return self._poster.post(body, headers)

    def close(self) -> None:
        """Close the connections; what stands goes on for its lifetime."""
        self._poster.close()


def chunks(alerts: Iterable[bytes]) -> Iterator[bytes]:
    """Put encoded alerts into JSON arrays of at most `MAX_BYTES` each."""
    held: list[bytes] = []
    size = 2
    for alert in alerts:
        if held and size + len(alert) > MAX_BYTES:
            yield b"[" + b",".join(held) + b"]"
            held, size = [], 2
        held.append(alert)
        size += len(alert) + 1
    if held:
        yield b"[" + b",".join(held) + b"]"
