"""The alerts that stand at each Alertmanager, so that they can be said again before they end there.

Bounded: a row an incident that is live (and one for each severity or place that it had within the
last minutes), and what ended within `RESOLVED_SECONDS`.
"""

import msgspec

from detector.incidents.database import Database
from detector.notify.formats.alertmanager import Alert


class Standing(msgspec.Struct, frozen=True):
    """An alert that was accepted, when it first was, and when it was ended (None: it fires)."""

    incident: str
    alert: Alert
    since_unix_nano: int
    ended_at_unix_nano: int | None = None


_COLUMNS = "incident, alert, since, ended_at"
# What fires is said again while its incident lives, and while an end that is due still waits.
_IS_OVER = (
    "incident NOT IN (SELECT id FROM incidents WHERE state IN ('open','acknowledged','mitigated'))"
    " AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.channel = standing.channel"
    " AND outbox.incident = standing.incident AND outbox.state = 'pending')"
)


class Alerts:
    """Reads and writes what stands at one channel's Alertmanager. Raises StoreError."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database, self._channel = database, channel

    def firing(self, incident: str) -> list[Standing]:
        """Return what fires for an incident: one, or more while an end was not accepted."""
        return self._read("incident = ? AND ended_at IS NULL", incident)

    def all(self) -> list[Standing]:
        """Return everything to be said again, oldest first."""
        return self._read("1")

    def _read(self, where: str, *values: str) -> list[Standing]:
        query = f"SELECT {_COLUMNS} FROM standing WHERE channel = ? AND {where} ORDER BY since"  # noqa: S608
        with self._database.read() as connection:
            rows = connection.execute(query, (self._channel, *values)).fetchall()
        return [
            Standing(incident, msgspec.json.decode(alert, type=Alert), since, ended)
            for incident, alert, since, ended in rows
        ]

    def keep(self, incident: str, alert: Alert, now: int, ended_at: int | None = None) -> None:
        """Note what was accepted for an incident; an alert keeps the time of its first telling."""
        key = msgspec.json.encode(alert.labels, order="sorted").decode()
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO standing VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE"
                " SET alert = ?4, ended_at = ?6",
                (self._channel, incident, key, msgspec.json.encode(alert), now, ended_at),
            )

    def forget(self, ended_before_unix_nano: int) -> None:
        """Drop what ended before a time, and what fires for an incident that is over.

        The second happens where an end was refused: Alertmanager ends it when it is said no more.
        """
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM standing WHERE channel = ?1 AND (ended_at < ?2"  # noqa: S608
                f" OR (ended_at IS NULL AND {_IS_OVER}))",
                (self._channel, ended_before_unix_nano),
            )
