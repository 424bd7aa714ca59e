"""What people said of causes, and how often each entry was right: per entry, revision, hardware."""

import msgspec

from detector.incidents.database import Database
from forewarn.incident import Feedback, Hypothesis, Incident
from runbooks import UNKNOWN


class Count(msgspec.Struct, frozen=True):
    """How an entry fared on one hardware class: led a ranking, was confirmed, was refuted."""

    matched: int = 0
    confirmed: int = 0
    refuted: int = 0


class FeedbackStore:
    """Stores feedback, counts, and the rankings with the counts they used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, incident: str, feedback: Feedback, hardware: str) -> None:
        """Keep one word of a person and count it."""
        row = (
            incident, feedback.entry, feedback.rev, hardware, feedback.verdict, feedback.proof,
            feedback.by, feedback.time_unix_nano, feedback.note,
        )  # fmt: skip
        with self._database.transaction() as connection:
            connection.execute("INSERT INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        confirmed = feedback.verdict == "confirmed"
        self._count(feedback.entry, feedback.rev, hardware, (0, confirmed, not confirmed))

    def _count(self, entry: str, rev: int, hardware: str, more: tuple[int, int, int]) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO counts VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET"
                " matched = matched + ?4, confirmed = confirmed + ?5, refuted = refuted + ?6",
                (entry, rev, hardware, *map(int, more)),
            )

    def counts(self) -> dict[tuple[str, int, str], Count]:
        """Return all counts by entry, revision and hardware class."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT entry, rev, hardware, matched, confirmed, refuted FROM counts"
            ).fetchall()
        return {(entry, rev, hardware): Count(*own) for entry, rev, hardware, *own in rows}

    def keep_ranking(self, incident: Incident, hardware: str) -> None:
        """Keep the ranking of one told revision; an entry that leads first here is a match."""
        ranked = incident.hypotheses
        if ranked and ranked[0].entry != UNKNOWN and not self._led(incident.id, ranked[0]):
            self._count(ranked[0].entry, ranked[0].rev, hardware, (1, 0, 0))
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO rankings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        incident.id, incident.seq, place, own.entry, own.rev, own.entity,
                        own.score, own.share, *own.counts,
                    )
                    for place, own in enumerate(ranked)
                ],
            )  # fmt: skip

    def _led(self, incident: str, first: Hypothesis) -> bool:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT 1 FROM rankings WHERE incident = ? AND place = 0 AND entry = ? AND rev = ?",
                (incident, first.entry, first.rev),
            ).fetchone()
        return row is not None
