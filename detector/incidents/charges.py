"""Keeps what was charged to the budget, and reads from it what became of the budget."""

from collections.abc import Iterable

from detector.incidents.budget import DAY_NANO, MEMORY_DAYS, Charge
from detector.incidents.database import Database

_COLUMNS = "time, cluster, place, finding, signal, family, per_day, incident"


class ChargeStore:
    """Reads and writes charges; writes stand inside the step's transaction. Raises StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def since(self, time_unix_nano: int) -> list[Charge]:
        """Return what was charged since then, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM charges WHERE time >= ? ORDER BY time, finding",  # noqa: S608
                (time_unix_nano,),
            ).fetchall()
        return [Charge(*row) for row in rows]

    def competing(self) -> list[Charge]:
        """Return what competes for the budget: neither confirmed, nor merged into another one."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM charges WHERE incident NOT IN ("  # noqa: S608
                " SELECT incident FROM feedback WHERE verdict = 'confirmed' UNION"
                " SELECT id FROM incidents WHERE state = 'merged') ORDER BY time, finding"
            ).fetchall()
        return [Charge(*row) for row in rows]

    def save(self, charges: Iterable[Charge], now: int) -> None:
        """Write charges; what is older than twice the memory goes."""
        with self._database.transaction() as connection:
            connection.executemany(
                f"INSERT OR REPLACE INTO charges ({_COLUMNS})"  # noqa: S608
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        own.time_unix_nano, own.cluster, own.place, own.finding, own.signal,
                        own.family, own.per_day, own.incident,
                    )
                    for own in charges
                ],
            )  # fmt: skip
            old = now - round(2 * MEMORY_DAYS * DAY_NANO)
            connection.execute("DELETE FROM charges WHERE time < ?", (old,))
