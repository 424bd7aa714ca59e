"""Incidents, what they were made of, and how far the topics were read: decide's memory."""

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from detector.incidents.database import Database, StoreError
from detector.incidents.places import Places
from forewarn.bus import Position
from forewarn.incident import Incident, TimelineItem

_LIVE = "state IN ('open', 'acknowledged', 'mitigated', 'resolved')"


class Query(msgspec.Struct, frozen=True):
    """What incidents are wanted: empty fields ask for all; `since` is the latest change, ns."""

    state: str = ""
    entity: str = ""
    cluster: str = ""
    since_unix_nano: int = 0
    limit: int = 100


class Store:
    """Reads and writes incidents; with `read_only` it only looks, beside a writer or without one.

    Writes stand inside `database.transaction()`. Raises StoreError.
    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.database = Database(path, read_only)
        self.places = Places(self.database)

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
                self.places.move(incident.id, home or incident.merged_into)
            else:
                self.places.show(incident, before)

    def generation(self, cluster: str, key: str) -> int:
        """Return the latest generation of a key; 0 where there was none."""
        with self.database.read() as connection:
            row = connection.execute(
                "SELECT max(generation) FROM incidents WHERE cluster = ? AND key = ?",
                (cluster, key),
            ).fetchone()
        return row[0] or 0

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
