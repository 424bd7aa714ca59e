"""Turns a change of an incident into notes for the channels that want it."""

import time
from collections.abc import Callable, Iterator, Mapping

from detector.notify.formats import FORMATS, Telling
from detector.notify.formats.telling import Kind, webhook_id
from detector.notify.outbox import Note, Outbox
from detector.notify.topic import NAME as TOPIC
from forewarn.config import Settings, Webhook
from forewarn.incident import Incident
from forewarn.records import SEVERITIES

# The topic gets everything, in the generic format, whatever the webhooks want.
_TOPIC_AS_WEBHOOK = Webhook(name=TOPIC, url="", min_severity="info")


class Teller:
    """Words changes for every channel of the settings; called inside decide's transaction."""

    def __init__(
        self, settings: Settings, outbox: Outbox, clock: Callable[[], int] = time.time_ns
    ) -> None:
        own = (_TOPIC_AS_WEBHOOK, *settings.webhook)
        self._webhooks: Mapping[str, Webhook] = {webhook.name: webhook for webhook in own}
        self._listen = settings.decide.listen
        self._outbox, self._clock = outbox, clock

    def tell(self, incident: Incident, kind: Kind, reasons: tuple[str, ...]) -> int:
        """Write the notes of one told revision; return how many."""
        notes = list(self._notes(incident, kind, reasons))
        self._outbox.add(notes)
        return len(notes)

    def _notes(self, incident: Incident, kind: Kind, reasons: tuple[str, ...]) -> Iterator[Note]:
        now, disabled = self._clock(), self._outbox.disabled()
        for name, webhook in self._webhooks.items():
            own = self._kind_here(webhook, incident, kind)
            if name in disabled or own is None:
                continue
            key = webhook_id(incident)
            telling = Telling(
                incident, own, reasons, key, now, webhook.language, self._links(incident)
            )
            body = FORMATS[webhook.format].telling(telling)
            yield Note(name, incident.id, key, own, body, now)

    def _kind_here(self, webhook: Webhook, incident: Incident, kind: Kind) -> Kind | None:
        """Return as what a channel is told: it hears of an incident once grave enough, then all.

        The first it hears is an opening, whatever has happened before; an end alone is not told.
        """
        if self._outbox.has_told(webhook.name, incident.id):
            return kind
        wanted = SEVERITIES.index(incident.severity) >= SEVERITIES.index(webhook.min_severity)
        return "open" if wanted and kind != "resolve" else None

    def _links(self, incident: Incident) -> dict[str, str]:
        return {"incident": f"http://{self._listen}/incidents/{incident.id}"}
