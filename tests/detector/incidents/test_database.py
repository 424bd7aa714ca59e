import sqlite3
from pathlib import Path

import pytest

from detector.incidents.database import Database, StoreError
from detector.incidents.schema import MIGRATIONS


def test_new_database_is_brought_to_the_latest_version(tmp_path: Path) -> None:
    own = Database(tmp_path / "state" / "decide.sqlite")
    with own.read() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    own.close()


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
def test_older_database_is_migrated_and_keeps_its_rows(tmp_path: Path, version: int) -> None:
    path = tmp_path / "decide.sqlite"
    old = sqlite3.connect(path)
    for script in MIGRATIONS[:version]:
        old.executescript(script)
    if version:
        old.execute("INSERT INTO offsets VALUES ('findings', 0, 7)")
    old.execute(f"PRAGMA user_version = {version}")
    old.commit()
    old.close()
    own = Database(path)
    with own.read() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        kept = connection.execute("SELECT next FROM offsets").fetchall()
    own.close()
    assert kept == ([(7,)] if version else [])


def test_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "decide.sqlite"
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StoreError, match=r"version 99 is newer than .*upgrade"):
        Database(path)
    with pytest.raises(StoreError, match="99"):  # and the lock was let go
        Database(path)


def test_second_decide_is_kept_out_until_the_first_ends(tmp_path: Path) -> None:
    path = tmp_path / "decide.sqlite"
    first = Database(path)
    with pytest.raises(StoreError, match=r"in use by another decide \(process \d+\)"):
        Database(path)
    first.close()
    Database(path).close()


def test_reader_looks_beside_a_writer_and_without_one(tmp_path: Path) -> None:
    path = tmp_path / "decide.sqlite"
    writer = Database(path)
    with writer.transaction() as connection:
        connection.execute("INSERT INTO offsets VALUES ('findings', 0, 7)")
    for writer_is_there in (True, False):
        if not writer_is_there:
            writer.close()
        reader = Database(path, read_only=True)
        with reader.read() as connection:
            assert connection.execute("SELECT next FROM offsets").fetchall() == [(7,)]
        with (
            pytest.raises(StoreError, match="readonly"),
            reader.transaction() as connection,
        ):
            connection.execute("DELETE FROM offsets")
        reader.close()


def test_reader_of_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file; decide has not run here yet"):
        Database(tmp_path / "none.sqlite", read_only=True)


def test_no_database_is_made_of_a_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "decide.sqlite"
    path.write_text("no database, but long enough to be read as one " * 50)
    with pytest.raises(StoreError, match="not a database"):
        Database(path)


def test_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    own = Database(tmp_path / "decide.sqlite")

    def fail() -> None:
        with own.transaction() as connection:
            connection.execute("INSERT INTO offsets VALUES ('findings', 0, 7)")
            with own.transaction() as inner:
                inner.execute("INSERT INTO offsets VALUES ('findings', 1, 8)")
            raise KeyError("stop")

    with pytest.raises(KeyError):
        fail()
    with own.read() as connection:
        assert connection.execute("SELECT * FROM offsets").fetchall() == []
    own.close()
