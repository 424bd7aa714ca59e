"""The one SQLite file of decide: one writer, one connection, one transaction a step.

All threads of decide share the connection through `transaction()` and `read()`, so nothing is ever
written beside the writer. A lock file beside the database keeps a second decide out.
"""

import contextlib
import fcntl
import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from detector.incidents.schema import MIGRATIONS
from forewarn.errors import ForewarnError

logger = logging.getLogger(__name__)
BUSY_TIMEOUT_SECONDS = 10.0


class StoreError(ForewarnError):
    """The database is missing, in use, of a newer version, or cannot be written."""


class Database:
    """A migrated SQLite file behind one lock.

    Raises:
        StoreError: if another decide holds it, it is newer than this program, or is unreadable.

    """

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._is_writing = False
        self._guard = None if read_only else _hold(path)
        try:
            self._connection = _open(path, read_only)
        except (sqlite3.Error, StoreError) as error:
            self._release()
            raise StoreError(f"database {path}: {error}") from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write: everything inside is kept as a whole, or nothing is. Nests into the outer one."""
        with self._lock:
            if self._is_writing:
                yield self._connection
                return
            self._is_writing = True
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreError(f"database {self.path}: {error}") from error
            finally:
                self._is_writing = False
                self._abandon()

    def _abandon(self) -> None:
        """Undo what an exception left half done; after a commit there is nothing to undo."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise StoreError(f"database {self.path}: {error}") from error

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Read, in turn with the writer."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise StoreError(f"database {self.path}: {error}") from error

    def close(self) -> None:
        """Close the file and let another decide in."""
        with self._lock:
            self._connection.close()
            self._release()

    def _release(self) -> None:
        if self._guard is not None:
            self._guard.close()
            self._guard = None


def _hold(path: Path) -> IO[str]:
    """Take the lock file beside the database; the system frees it when the process ends."""
    lock = path.with_name(path.name + ".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = lock.open("a+", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"database {path}: {lock}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.seek(0)
        owner = handle.read().strip() or "unknown"
        handle.close()
        raise StoreError(
            f"database {path} is in use by another decide (process {owner}): exactly one may run; "
            "stop it, or set decide.database to another file"
        ) from error
    handle.truncate(0)
    handle.write(f"{os.getpid()}\n")
    handle.flush()
    return handle


def _open(path: Path, read_only: bool) -> sqlite3.Connection:
    if read_only and not path.exists():
        raise StoreError("no such file; decide has not run here yet")
    address = f"{path.absolute().as_uri()}{'?mode=ro' if read_only else ''}"
    connection = sqlite3.connect(
        address,
        uri=True,
        timeout=BUSY_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        if not read_only:
            # A kill loses nothing in WAL mode even so; FULL also outlives a power cut.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        _migrate(connection, read_only)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, read_only: bool) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise StoreError(f"version {version} is newer than {len(MIGRATIONS)}; upgrade Forewarn")
    if read_only and version < len(MIGRATIONS):
        raise StoreError(f"version {version} is older than {len(MIGRATIONS)}; start decide once")
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        connection.executescript(f"BEGIN;{script};PRAGMA user_version = {number};COMMIT;")
        logger.info("database migrated to version %d", number)
