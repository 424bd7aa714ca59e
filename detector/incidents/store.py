"""Incidents, what they were made of, and how far the topics were read: decide's memory."""

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from detector.incidents.database import Database, StoreError
from detector.incidents.evidence import is_open
from detector.incidents.waiting import Wait
from forewarn.bus import Position
from forewarn.incident import Incident, TimelineItem
from forewarn.records import Finding

_LIVE = "state IN ('open', 'acknowledged', 'mitigated', 'resolved')"


_PLACE = (
    "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (cluster, id)"
    " DO UPDATE SET seq = ?3, incident = ?4, is_open = ?5, heard_at = ?6"
)


class Query(msgspec.Struct, frozen=True):
    """What incidents are wanted: empty fields ask for all; `since` is the latest change, ns."""

    state: str = ""
    entity: str = ""
    cluster: str = ""
    since_unix_nano: int = 0
    limit: int = 100


class Place(msgspec.Struct, frozen=True):
    """Where a finding stands, in which revision, and when its detector last spoke of it."""

    seq: int
    incident: str
    is_open: bool
    heard_at_unix_nano: int


class Store:
    """Reads and writes incidents; with `read_only` it only looks, beside a writer or without one.

    Writes stand inside `database.transaction()`. Raises StoreError.
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.database = Database(path, read_only)

    def close(self) -> None:
        """Close the file and let another decide in."""
        self.database.close()

    def incidents(self) -> list[Incident]:
        """Return every incident in its latest revision, oldest first."""
        return self._incidents("1 ORDER BY first_evidence_at, id", ())

    def unfinished(self) -> list[Incident]:
        """Return what may still change by itself: everything but closed and merged."""
        return self._incidents(f"{_LIVE} ORDER BY first_evidence_at, id", ())

    def find(self, query: Query) -> list[Incident]:
        """Return incidents that the query asks for, latest change first."""
        below = query.entity.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "/%"
        return self._incidents(
            "(?1 = '' OR state = ?1) AND (?2 = '' OR entity = ?2 OR entity LIKE ?3 ESCAPE '\\')"
            " AND (?4 = '' OR cluster = ?4) AND updated_at >= ?5"
            " ORDER BY updated_at DESC, id DESC LIMIT ?6",
            (query.state, query.entity, below, query.cluster, query.since_unix_nano, query.limit),
        )

    def get(self, prefix: str) -> Incident | None:
        """Return the incident of that id or unique prefix of it (any case), or None.

        Raises:
            StoreError: if several begin so.

        """
        found = self._incidents("substr(id, 1, length(?1)) = upper(?1) LIMIT 2", (prefix,))
        if len(found) > 1:
            raise StoreError(f"several incidents begin with {prefix!r}; give more of the id")
        return found[0] if prefix and found else None

    def _incidents(self, where: str, values: tuple[object, ...]) -> list[Incident]:
        with self.database.read() as connection:
            rows = connection.execute(f"SELECT body FROM incidents WHERE {where}", values)  # noqa: S608
            found = [msgspec.json.decode(body, type=Incident) for (body,) in rows.fetchall()]
            return [_with_timeline(connection, incident) for incident in found]

    def save(self, incident: Incident, before: Incident | None = None, home: str = "") -> None:
        """Write a revision after `before`; lines of the timeline are only ever appended.

        `home` is the incident, written before, that has the findings of one that was merged.
        """
        body = msgspec.json.encode(msgspec.structs.replace(incident, timeline=()))
        with self.database.transaction() as connection:
            connection.execute(
                "INSERT INTO incidents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
                " ON CONFLICT (id) DO UPDATE SET seq = ?5, state = ?6, severity = ?7, entity = ?8,"
                " updated_at = ?10, body = ?11",
                (
                    incident.id, incident.cluster, incident.key, incident.generation, incident.seq,
                    incident.state, incident.severity, incident.entity,
                    incident.first_evidence_at_unix_nano, incident.updated_at_unix_nano, body,
                ),
            )  # fmt: skip
            _append_timeline(connection, incident)
            if incident.merged_into:
                query = "UPDATE findings SET incident = ? WHERE incident = ?"
                connection.execute(query, (home or incident.merged_into, incident.id))
            else:
                _place_findings(connection, incident, before)

    def generation(self, cluster: str, key: str) -> int:
        """Return the latest generation of a key; 0 where there was none."""
        with self.database.read() as connection:
            row = connection.execute(
                "SELECT max(generation) FROM incidents WHERE cluster = ? AND key = ?",
                (cluster, key),
            ).fetchone()
        return row[0] or 0

    def joined(self, cluster: str, finding: str) -> Place | None:
        """Return where a finding that was used stands."""
        with self.database.read() as connection:
            row = connection.execute(
                "SELECT seq, incident, is_open, heard_at FROM findings"
                " WHERE cluster = ? AND id = ?",
                (cluster, finding),
            ).fetchone()
        return None if row is None else Place(row[0], row[1], bool(row[2]), row[3])

    def place(self, places: Mapping[tuple[str, str], Place]) -> None:
        """Write where findings stand that no incident shows, by cluster and id."""
        with self.database.transaction() as connection:
            connection.executemany(
                _PLACE, [(*key, *msgspec.structs.astuple(own)) for key, own in places.items()]
            )

    def drop_unheard(self, incident: str, shown: Iterable[str], before_unix_nano: int) -> int:
        """Count no longer as open what is not shown and was not heard of; return how many."""
        with self.database.transaction() as connection:
            return connection.execute(
                "UPDATE findings SET is_open = 0 WHERE incident = ? AND is_open AND heard_at < ?"
                " AND id NOT IN (SELECT value FROM json_each(?))",
                (incident, before_unix_nano, msgspec.json.encode(list(shown)).decode()),
            ).rowcount

    def waiting(self) -> list[Wait]:
        """Return the findings that wait."""
        with self.database.read() as connection:
            rows = connection.execute("SELECT until, finding FROM waiting ORDER BY until, id")
            return [
                Wait(msgspec.json.decode(own, type=Finding), until)
                for until, own in rows.fetchall()
            ]

    def save_waiting(self, gone: Iterable[Wait], come: Iterable[Wait]) -> None:
        """Write which findings wait no longer, and which do."""
        with self.database.transaction() as connection:
            connection.executemany(
                "DELETE FROM waiting WHERE cluster = ? AND id = ?", [own.key for own in gone]
            )
            connection.executemany(
                "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?)",
                [(*own.key, own.until_unix_nano, msgspec.json.encode(own.finding)) for own in come],
            )

    def offsets(self) -> dict[Position, int]:
        """Return the next offset to read of every partition that was read."""
        with self.database.read() as connection:
            rows = connection.execute('SELECT topic, "partition", next FROM offsets').fetchall()
        return {(topic, partition): following for topic, partition, following in rows}

    def save_offsets(self, offsets: Mapping[Position, int]) -> None:
        """Remember how far the topics were read; call it in the transaction of what they gave."""
        rows: Iterable[tuple[str, int, int]] = ((*at, offset) for at, offset in offsets.items())
        with self.database.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO offsets VALUES (?, ?, ?)", rows)


def _with_timeline(connection: sqlite3.Connection, incident: Incident) -> Incident:
    rows = connection.execute(
        "SELECT time, what, text, by FROM timeline WHERE incident = ? ORDER BY position",
        (incident.id,),
    )
    return msgspec.structs.replace(incident, timeline=tuple(TimelineItem(*row) for row in rows))


def _place_findings(
    connection: sqlite3.Connection, incident: Incident, before: Incident | None
) -> None:
    """Write where findings are and how far they were used; only those that changed."""
    held = {own.id: own.seq for own in before.evidence} if before else {}
    fresh = [own for own in incident.evidence if held.get(own.id) != own.seq]
    connection.executemany(
        _PLACE,
        [
            (
                incident.cluster, own.id, own.seq, incident.id, is_open(own),
                own.updated_at_unix_nano,
            )
            for own in fresh
        ],
    )  # fmt: skip


def _append_timeline(connection: sqlite3.Connection, incident: Incident) -> None:
    query = "SELECT count(*) FROM timeline WHERE incident = ?"
    (begin,) = connection.execute(query, (incident.id,)).fetchone()
    connection.executemany(
        "INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?)",
        [
            (incident.id, position, line.time_unix_nano, line.what, line.text, line.by)
            for position, line in enumerate(incident.timeline[begin:], begin)
        ],
    )
