"""In which incident each finding stands, shown or only counted, and which findings wait for one."""

from collections.abc import Iterable, Mapping

import msgspec

from detector.incidents.database import Database
from detector.incidents.evidence import is_open
from detector.incidents.waiting import Wait
from forewarn.incident import Incident
from forewarn.records import Finding

_PLACE = (
    "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (cluster, id)"
    " DO UPDATE SET seq = ?3, incident = ?4, is_open = ?5, heard_at = ?6"
)


class Place(msgspec.Struct, frozen=True):
    """Where a finding stands, in which revision, and when its detector last spoke of it."""

    seq: int
    incident: str
    is_open: bool
    heard_at_unix_nano: int


class Places:
    """Reads and writes both; writes stand inside the step's transaction. Raises StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def show(self, incident: Incident, before: Incident | None) -> None:
        """Write where the findings stand that an incident shows; only those that changed."""
        held = {own.id: own.seq for own in before.evidence} if before else {}
        fresh = [own for own in incident.evidence if held.get(own.id) != own.seq]
        rows = [
            (incident.cluster, own.id, own.seq, incident.id, is_open(own), own.updated_at_unix_nano)
            for own in fresh
        ]
        with self._database.transaction() as connection:
            connection.executemany(_PLACE, rows)

    def move(self, incident: str, into: str) -> None:
        """Write that the findings of an incident that was merged are another's now."""
        with self._database.transaction() as connection:
            query = "UPDATE findings SET incident = ? WHERE incident = ?"
            connection.execute(query, (into, incident))

    def get(self, cluster: str, finding: str) -> Place | None:
        """Return where a finding that was used stands."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT seq, incident, is_open, heard_at FROM findings"
                " WHERE cluster = ? AND id = ?",
                (cluster, finding),
            ).fetchone()
        return None if row is None else Place(row[0], row[1], bool(row[2]), row[3])

    def keep(self, places: Mapping[tuple[str, str], Place]) -> None:
        """Write where findings stand that no incident shows, by cluster and id."""
        with self._database.transaction() as connection:
            connection.executemany(
                _PLACE, [(*key, *msgspec.structs.astuple(own)) for key, own in places.items()]
            )

    def drop_unheard(self, incident: str, shown: Iterable[str], before_unix_nano: int) -> int:
        """Count no longer as open what is not shown and was not heard of; return how many."""
        with self._database.transaction() as connection:
            return connection.execute(
                "UPDATE findings SET is_open = 0 WHERE incident = ? AND is_open AND heard_at < ?"
                " AND id NOT IN (SELECT value FROM json_each(?))",
                (incident, before_unix_nano, msgspec.json.encode(list(shown)).decode()),
            ).rowcount

    def waiting(self) -> list[Wait]:
        """Return the findings that wait."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT until, finding FROM waiting ORDER BY until, id")
            return [
                Wait(msgspec.json.decode(own, type=Finding), until)
                for until, own in rows.fetchall()
            ]

    def save_waiting(self, gone: Iterable[Wait], come: Iterable[Wait]) -> None:
        """Write which findings wait no longer, and which do."""
        with self._database.transaction() as connection:
            connection.executemany(
                "DELETE FROM waiting WHERE cluster = ? AND id = ?", [own.key for own in gone]
            )
            connection.executemany(
                "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?)",
                [(*own.key, own.until_unix_nano, msgspec.json.encode(own.finding)) for own in come],
            )
