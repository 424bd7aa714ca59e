"""Where reading of the kernel log stands: boot and sequence, kept over a restart of the agent."""

import logging
from pathlib import Path

import msgspec

logger = logging.getLogger(__name__)


class Position(msgspec.Struct, frozen=True):
    """The last line done with."""

    boot_id: str
    sequence: int


class Cursor:
    """A small file, replaced as a whole so that a crash leaves the old one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._told = False

    def load(self) -> Position | None:
        """Return what was saved; None where there is nothing, or nothing to be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Position)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            logger.warning("kernel log cursor %s is not readable, starting anew: %s",
                           self._path, error)  # fmt: skip
            return None

    def save(self, position: Position) -> None:
        """Save; a disk that refuses is told once, and costs repeated lines after a restart."""
        fresh = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(msgspec.json.encode(position))
            fresh.replace(self._path)
        except OSError as error:
            if not self._told:
                logger.warning("kernel log cursor %s cannot be saved: %s", self._path, error)
            self._told = True
