"""What people confirmed as a fault is no history: its devices are left out while it went on.

Everything below the place of a confirmed incident, and all that it showed on, from a while before
its first evidence until it was resolved. In recordings the readings become *not due*, so that
nobody takes the gap for silence.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from detector.training.tidy import Rows
from forewarn import entity as entities
from forewarn import wire
from forewarn.bus import Message
from forewarn.errors import ForewarnError, WireError
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, Frame, Outcome

BEFORE_SECONDS = 900.0  # as live learning commits: an onset is older than its evidence


class IncidentsError(ForewarnError):
    """A file of incidents is none; the message names file and line."""


class Window(NamedTuple):
    """An entity, and the Unix seconds between which it was at fault."""

    entity: str
    first: float
    last: float


class Confirmed:
    """Windows of confirmed incidents; `left_out` counts readings."""

    def __init__(self, windows: tuple[Window, ...] = ()) -> None:
        self._windows = windows
        self._layouts = wire.LayoutCache()
        self.left_out = 0

    @classmethod
    def read(cls, path: Path) -> "Confirmed":
        """Read incidents, one JSON object a line, as `forewarn incident list --json` prints them.

        Raises IncidentsError.
        """
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise IncidentsError(f"{path}: {error.strerror}") from error
        return cls(tuple(_windows(path, lines)))

    def rows(self, rows: Rows) -> Rows:
        """Return a table without what was at fault."""
        out = np.zeros(len(rows.seconds), np.bool_)
        for own in self._windows:
            inside = np.array([entities.inside(e, own.entity) for _, e in rows.names], np.bool_)
            if inside.any():
                out |= inside[rows.which] & _between(rows.seconds, own)
        self.left_out += int(out.sum())
        keep = ~out
        return rows._replace(
            seconds=rows.seconds[keep], which=rows.which[keep], values=rows.values[keep]
        )

    def message(self, message: Message) -> Message:
        """Return a message with what was at fault marked as not due; others as they are."""
        if message.topic not in {"frames", "jobs"} or not self._windows:
            return message
        try:
            frame = wire.decode_frame(message.value)
            pairs = self._layouts.get(frame.layout).pairs()
        except WireError:  # the engine counts it
            return message
        own = [window for window in self._windows if _at(frame, window)]
        out = [any(entities.inside(e, w.entity) for w in own) for _, e in pairs] if own else []
        if not any(out):
            return message
        self.left_out += sum(out)
        marked = bytes(
            Outcome.NOT_DUE if left else (frame.outcome[at] if frame.outcome else Outcome.OK)
            for at, left in enumerate(out)
        )
        value = wire.encode_frame(msgspec.structs.replace(frame, outcome=marked))
        return msgspec.structs.replace(message, value=value)


def _windows(path: Path, lines: list[bytes]) -> Iterator[Window]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            incident = msgspec.json.decode(line, type=Incident)
        except msgspec.MsgspecError as error:
            raise IncidentsError(
                f"{path}:{number}: is no incident ({error}); give the lines that "
                "`forewarn incident list --json` prints"
            ) from error
        if any(own.verdict == "confirmed" for own in incident.feedback):
            yield from _of(incident)


def _of(incident: Incident) -> Iterator[Window]:
    first = incident.first_evidence_at_unix_nano / NANOSECONDS - BEFORE_SECONDS
    end = incident.resolved_at_unix_nano
    last = np.inf if end is None else end / NANOSECONDS
    for entity in dict.fromkeys((incident.entity, *incident.affected)):
        yield Window(entity, first, last)


def _between(seconds: NDArray[np.float64], window: Window) -> NDArray[np.bool_]:
    return (seconds >= window.first) & (seconds <= window.last)


def _at(frame: Frame, window: Window) -> bool:
    return window.first <= frame.time_unix_nano / NANOSECONDS <= window.last
