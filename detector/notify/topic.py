"""Tells on the topic `incidents`: one more channel, acknowledged before it counts as told."""

import msgspec

from detector.notify.channel import Channel, Result
from detector.notify.outbox import Row
from forewarn.bus import Producer
from forewarn.errors import BusError

NAME = "incidents"
FLUSH_SECONDS = 10.0
CONTENT_TYPE = b"application/cloudevents+json; charset=utf-8"


class _Envelope(msgspec.Struct, frozen=True):
    specversion: str
    id: str
    source: str
    type: str
    time: str
    subject: str = ""


class TopicChannel(Channel):
    """Publishes the CloudEvents body under the incident's id, attributes as `ce_` headers too."""

    name = NAME

    def __init__(self, producer: Producer, flush_seconds: float = FLUSH_SECONDS) -> None:
        self._producer, self._flush_seconds = producer, flush_seconds

    def send(self, row: Row) -> Result:
        """Publish and wait for the acknowledgement."""
        try:
            self._producer.publish("incidents", row.note.incident, row.note.body, _headers(row))
            if self._producer.flush(self._flush_seconds):
                return Result("ok", "acknowledged")
        except BusError as error:
            return Result("retry", f"bus: {error}")
        return Result("retry", f"bus: no acknowledgement within {self._flush_seconds:g} s")

    def close(self) -> None:
        """The producer is decide's own."""


def _headers(row: Row) -> list[tuple[str, bytes]]:
    envelope = msgspec.json.decode(row.note.body, type=_Envelope)
    attributes = msgspec.structs.asdict(envelope).items()
    headers = [(f"ce_{key}", value.encode()) for key, value in attributes if value]
    return [("content-type", CONTENT_TYPE), *headers]
