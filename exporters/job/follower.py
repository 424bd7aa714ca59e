"""Follows one log file as it grows, is rotated, is truncated, vanishes and comes back."""

import os
import stat
from pathlib import Path

from exporters.splitter import Splitter

READ_BYTES = 1 << 20  # at most at once, so that no file keeps the others waiting
MAX_LINE_BYTES = 65_536
Identity = tuple[int, int]
_CLOSED = -1


def identity(path: Path) -> tuple[Identity, int] | None:
    """Return (device, inode) and size of a regular file; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return ((found.st_dev, found.st_ino), found.st_size) if stat.S_ISREG(found.st_mode) else None


class Follower:
    """Hands out the lines that a file gets; progress bars (`\\r`) count as lines.

    It holds the file open, so the rest of a file that was rotated away is still read, and its
    inode is not given to another one meanwhile. A file that shrinks was truncated and is read from
    its beginning; one that is truncated and grows beyond its old size between two polls cannot be
    told from one that grew.
    """

    def __init__(self, path: Path, at_end: bool) -> None:
        self.path = path
        self.too_long = 0
        self.identity: Identity | None = None
        self._descriptor = _CLOSED
        self._offset = 0
        self._splitter = Splitter(MAX_LINE_BYTES)
        self._partial = False  # the first line began before we did
        self._open(at_end)

    def _open(self, at_end: bool = False) -> None:
        """Open the file that has the path now. Raises OSError."""
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        found = os.fstat(self._descriptor)
        self.identity = (found.st_dev, found.st_ino)
        self._restart(found.st_size if at_end else 0)

    def _restart(self, offset: int) -> None:
        self._offset = offset
        self._splitter = Splitter(MAX_LINE_BYTES)
        before = os.pread(self._descriptor, 1, offset - 1) if offset else b""
        self._partial = before not in {b"", b"\n", b"\r"}

    def read(self) -> list[str]:
        """Return the lines that are complete. Raises OSError; the next call opens it anew."""
        try:
            return self._read()
        except OSError:
            self.close()
            raise

    def _read(self) -> list[str]:
        if self._descriptor == _CLOSED:
            self._resume()
        lines = self._take()
        # Only at its end is it looked up whether the path leads elsewhere by now.
        return lines if lines else self._turn()

    def _resume(self) -> None:
        """Open again after an error, where reading ended if it is the same file."""
        before, offset = self.identity, self._offset
        self._open()
        if before == self.identity:
            self._restart(offset)

    def _take(self) -> list[str]:
        data = os.pread(self._descriptor, READ_BYTES, self._offset)
        self._offset += len(data)
        return self._lines(data.replace(b"\r", b"\n"))

    def _lines(self, data: bytes) -> list[str]:
        lines, too_long = self._splitter.feed(data)
        self.too_long += too_long
        if self._partial and lines:
            lines, self._partial = lines[1:], False
        return [line.decode("utf-8", "replace") for line in lines]

    def _turn(self) -> list[str]:
        """Begin anew where the file was truncated, or go over to the one that took its place."""
        now = identity(self.path)
        if now is None:
            return []
        if now[0] == self.identity:
            if now[1] < self._offset:
                self._restart(0)
            return []
        last = self._lines(b"\n")  # a last line without its end
        self.close()
        self._open()
        return [line for line in last if line]

    def close(self) -> None:
        """Close the file."""
        if self._descriptor != _CLOSED:
            os.close(self._descriptor)
            self._descriptor = _CLOSED
