"""The outbox: what is to be told, row by row, written in the transaction of what it tells.

Rows of one incident on one channel leave in order. A body is stored when the row is made, so every
retry sends the very same bytes.
"""

import time
from collections.abc import Callable, Collection, Iterable
from typing import Literal

import msgspec

from detector.incidents.database import Database
from forewarn.records import NANOSECONDS

RowKind = Literal["open", "update", "resolve", "alert"]
RowState = Literal["pending", "delivered", "collapsed", "dead"]


KEEP_SECONDS = 7 * 24 * 3600  # as long as the topic of dead letters keeps its own


class Note(msgspec.Struct, frozen=True):
    """One thing to tell on one channel; `webhook_id` is `incident:generation:seq`."""

    channel: str
    incident: str
    webhook_id: str
    kind: RowKind
    body: bytes
    made_at_unix_nano: int


class Row(msgspec.Struct, frozen=True):
    """A note that waits, and how often it was tried."""

    id: int
    note: Note
    attempts: int
    next_try_at_unix_nano: int


_COLUMNS = "id, channel, incident, webhook_id, kind, body, made_at, attempts, next_try_at"


class Outbox:
    """Adds notes and keeps their fate. Raises StoreError."""

    def __init__(self, database: Database, clock: Callable[[], int] = time.time_ns) -> None:
        self.database, self._clock = database, clock

    def add(self, notes: Iterable[Note]) -> None:
        """Write notes; an update takes the place of updates of its incident that still wait."""
        with self.database.transaction() as connection:
            for note in notes:
                connection.execute(
                    "UPDATE outbox SET state = 'collapsed', done_at = ?3 WHERE channel = ?1"
                    " AND incident = ?2 AND state = 'pending' AND kind = 'update'",
                    (note.channel, note.incident, note.made_at_unix_nano),
                )
                connection.execute(
                    "INSERT INTO outbox (channel, incident, webhook_id, kind, body, made_at,"
                    " next_try_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                    (
                        note.channel, note.incident, note.webhook_id, note.kind, note.body,
                        note.made_at_unix_nano,
                    ),
                )  # fmt: skip

    def next(self, channel: str) -> Row | None:
        """Return the row to try first: of the first rows of each incident, the soonest due."""
        with self.database.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM outbox WHERE id IN (SELECT min(id) FROM outbox"  # noqa: S608
                " WHERE channel = ? AND state = 'pending' GROUP BY incident)"
                " ORDER BY next_try_at, id LIMIT 1",
                (channel,),
            ).fetchone()
        return None if row is None else Row(row[0], Note(*row[1:7]), *row[7:])

    def has_told(self, channel: str, incident: str) -> bool:
        """Say whether anything of the incident was ever to be told on the channel."""
        with self.database.read() as connection:
            query = "SELECT 1 FROM outbox WHERE channel = ? AND incident = ? LIMIT 1"
            return connection.execute(query, (channel, incident)).fetchone() is not None

    def done(self, row: Row, state: RowState, outcome: str, now: int) -> None:
        """Keep the end of a row, after one more attempt."""
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE outbox SET state = ?, last_outcome = ?, done_at = ?,"
                " attempts = attempts + 1 WHERE id = ?",
                (state, outcome, now, row.id),
            )

    def retry(self, row: Row, outcome: str, next_try_at_unix_nano: int) -> None:
        """Let a row wait after one more attempt."""
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE outbox SET last_outcome = ?, next_try_at = ?, attempts = attempts + 1"
                " WHERE id = ? AND state = 'pending'",
                (outcome, next_try_at_unix_nano, row.id),
            )

    def postpone(self, row: Row, next_try_at_unix_nano: int) -> None:
        """Let a row wait that was not sent: no attempt is counted."""
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE outbox SET next_try_at = ? WHERE id = ? AND state = 'pending'",
                (next_try_at_unix_nano, row.id),
            )

    def prune(self) -> int:
        """Delete rows that were done with for `KEEP_SECONDS`; return how many.

        Those of an incident that lives stay: they tell which channels have heard of it.
        """
        with self.database.transaction() as connection:
            return connection.execute(
                "DELETE FROM outbox WHERE state <> 'pending' AND done_at < ? AND incident NOT IN"
                " (SELECT id FROM incidents WHERE state IN ('open','acknowledged','mitigated'))",
                (self._clock() - KEEP_SECONDS * NANOSECONDS,),
            ).rowcount

    def pending(self) -> dict[str, int]:
        """Return how many rows wait, by channel."""
        with self.database.read() as connection:
            rows = connection.execute(
                "SELECT channel, count(*) FROM outbox WHERE state = 'pending' GROUP BY channel"
            )
            return dict(rows.fetchall())

    def register(self, channel: str, address: str) -> None:
        """Make a channel known; one that was disabled is enabled when its address has changed."""
        with self.database.transaction() as connection:
            connection.execute(
                "INSERT INTO channels (name, address) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE"
                " SET address = ?2, disabled_at = NULL, reason = '' WHERE address <> ?2",
                (channel, address),
            )

    def disable(self, channel: str, reason: str, now: int) -> None:
        """Stop a channel for good: its endpoint said that it is gone."""
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE channels SET disabled_at = ?2, reason = ?3 WHERE name = ?1",
                (channel, now, reason),
            )
            connection.execute(
                "UPDATE outbox SET state = 'dead', last_outcome = ?3, done_at = ?2"
                " WHERE channel = ?1 AND state = 'pending'",
                (channel, now, reason),
            )

    def retire(self, channels: Collection[str], now: int) -> int:
        """Give up what waits for channels other than these; return how many rows."""
        names = msgspec.json.encode(list(channels)).decode()
        with self.database.transaction() as connection:
            connection.execute(
                "DELETE FROM standing WHERE channel NOT IN (SELECT value FROM json_each(?))",
                (names,),
            )
            return connection.execute(
                "UPDATE outbox SET state = 'dead', last_outcome = 'channel removed', done_at = ?"
                " WHERE state = 'pending' AND channel NOT IN (SELECT value FROM json_each(?))",
                (now, names),
            ).rowcount

    def disabled(self) -> dict[str, str]:
        """Return why channels are disabled, by name."""
        with self.database.read() as connection:
            query = "SELECT name, reason FROM channels WHERE disabled_at IS NOT NULL"
            return dict(connection.execute(query).fetchall())
