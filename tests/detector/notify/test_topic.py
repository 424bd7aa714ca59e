from collections.abc import Iterable

from detector.notify.formats import FORMATS, Telling
from detector.notify.outbox import Note, Row
from detector.notify.topic import TopicChannel
from forewarn.bus import Producer, TopicName
from forewarn.errors import BusError
from tests.detector import samples
from tests.detector.desk import Stage


class FakeProducer(Producer):
    """Keeps what it is given; acknowledges it or not."""

    def __init__(self, acknowledges: bool = True, refuses: bool = False) -> None:
        self.acknowledges, self.refuses = acknowledges, refuses
        self.published: list[tuple[str, str, bytes | None, dict[str, bytes]]] = []
        self.flushed_after: list[int] = []

    def publish(
        self,
        topic: TopicName,
        key: str,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        if self.refuses:
            raise BusError("message too large")
        self.published.append((topic, key, value, dict(headers)))

    def flush(self, timeout_seconds: float) -> bool:
        self.flushed_after.append(len(self.published))
        return self.acknowledges

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Nothing is held."""


def row(stage: Stage) -> Row:
    stage.feed(samples.finding(samples.XID_79, samples.gpu(1, 3), 0))
    (incident,) = stage.living()
    body = FORMATS["generic"].telling(Telling(incident, "open", ("opened",), "I:1:1", samples.T0))
    return Row(1, Note("incidents", incident.id, "I:1:1", "open", body, samples.T0), 0, samples.T0)


def test_incident_is_published_under_its_id_with_its_attributes(stage: Stage) -> None:
    producer, own = FakeProducer(), row(stage)
    assert TopicChannel(producer).send(own).outcome == "ok"
    ((topic, key, value, headers),) = producer.published
    assert (topic, key, value) == ("incidents", own.note.incident, own.note.body)
    assert headers["ce_id"] == b"I:1:1"
    assert headers["ce_type"] == b"io.forewarn.incident.opened"
    assert headers["ce_source"] == b"/cluster/c"
    assert headers["ce_specversion"] == b"1.0"
    assert headers["content-type"].startswith(b"application/cloudevents+json")
    assert producer.flushed_after == [1]


def test_incident_without_acknowledgement_is_tried_again(stage: Stage) -> None:
    assert TopicChannel(FakeProducer(acknowledges=False), 0.1).send(row(stage)).outcome == "retry"


def test_incident_that_the_bus_refuses_is_tried_again(stage: Stage) -> None:
    assert TopicChannel(FakeProducer(refuses=True)).send(row(stage)).outcome == "retry"
