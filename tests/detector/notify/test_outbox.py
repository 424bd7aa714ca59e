from collections.abc import Iterator
from pathlib import Path

import pytest

from detector.incidents.database import Database, StoreError
from detector.notify.outbox import Note, Outbox, Row, RowKind


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    database = Database(tmp_path / "decide.sqlite")
    yield Outbox(database)
    database.close()


def note(seq: int, kind: RowKind, incident: str = "A", channel: str = "ops") -> Note:
    return Note(channel, incident, f"{incident}:1:{seq}", kind, b"%d" % seq, seq)


def drain(outbox: Outbox, channel: str = "ops") -> list[str]:
    told = []
    while (row := outbox.next(channel)) is not None:
        told.append(row.note.webhook_id)
        outbox.done(row, "delivered", "HTTP 204", 9)
    return told


def taken(outbox: Outbox) -> Row:
    row = outbox.next("ops")
    assert row is not None
    return row


def test_notes_of_an_incident_leave_in_order(outbox: Outbox) -> None:
    outbox.add([note(1, "open"), note(2, "resolve")])
    assert drain(outbox) == ["A:1:1", "A:1:2"]


def test_updates_that_wait_collapse_into_the_latest(outbox: Outbox) -> None:
    outbox.add([note(1, "open"), note(2, "update"), note(3, "update"), note(4, "update")])
    assert drain(outbox) == ["A:1:1", "A:1:4"]


def test_open_and_resolve_never_collapse(outbox: Outbox) -> None:
    outbox.add([note(1, "open"), note(2, "update"), note(3, "resolve")])
    assert drain(outbox) == ["A:1:1", "A:1:3"]


def test_updates_of_others_are_left_alone(outbox: Outbox) -> None:
    outbox.add([note(2, "update"), note(3, "update", "B"), note(4, "update", channel="chat")])
    assert drain(outbox) == ["A:1:2", "B:1:3"]
    assert drain(outbox, "chat") == ["A:1:4"]


def test_incident_that_waits_does_not_hold_up_others(outbox: Outbox) -> None:
    outbox.add([note(1, "open"), note(2, "resolve"), note(3, "open", "B")])
    outbox.retry(taken(outbox), "HTTP 503", next_try_at_unix_nano=100)
    assert taken(outbox).note.incident == "B"
    outbox.done(taken(outbox), "delivered", "HTTP 204", 9)
    row = taken(outbox)
    assert (row.note.webhook_id, row.attempts, row.next_try_at_unix_nano) == ("A:1:1", 1, 100)


def test_row_delivered_while_it_collapsed_counts_as_delivered(outbox: Outbox) -> None:
    outbox.add([note(1, "update")])
    in_flight = taken(outbox)
    outbox.add([note(2, "update")])
    outbox.done(in_flight, "delivered", "HTTP 204", 9)
    outbox.retry(in_flight, "HTTP 503", 50)  # too late: it is over
    assert drain(outbox) == ["A:1:2"]


def test_one_change_is_never_noted_twice(outbox: Outbox) -> None:
    outbox.add([note(1, "open")])
    with pytest.raises(StoreError, match="UNIQUE"):
        outbox.add([note(1, "open")])


def test_disabled_channel_gives_up_what_waits_until_its_address_changes(outbox: Outbox) -> None:
    outbox.register("ops", "one")
    outbox.add([note(1, "open")])
    outbox.disable("ops", "HTTP 410", 5)
    assert outbox.next("ops") is None
    outbox.register("ops", "one")
    assert outbox.disabled() == {"ops": "HTTP 410"}
    outbox.register("ops", "two")
    assert outbox.disabled() == {}


def test_pending_is_counted_by_channel(outbox: Outbox) -> None:
    outbox.add([note(1, "open"), note(2, "open", "B"), note(3, "open", channel="chat")])
    outbox.done(taken(outbox), "dead", "HTTP 400", 9)
    assert outbox.pending() == {"ops": 1, "chat": 1}


def test_what_waits_for_a_channel_that_was_removed_is_given_up(outbox: Outbox) -> None:
    outbox.add([note(1, "open"), note(1, "open", channel="chat")])
    assert outbox.retire(["chat", "incidents"], 9) == 1
    assert outbox.pending() == {"chat": 1}
