"""The contract of a collector: what it reads, how long it may take, what it hands back."""

import math
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from forewarn.errors import ForewarnError
from forewarn.records import Outcome, Severity


class CollectorError(ForewarnError):
    """A whole reading failed; the message says what could not be read."""


class Host(msgspec.Struct, frozen=True):
    """The node that is read: its entity, where its /proc and /sys are, what counts as its own."""

    entity: str
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    interfaces: tuple[str, ...] = ()  # patterns of virtual interfaces that are read too


class Measurement(msgspec.Struct, frozen=True, gc=False):
    """One position of one reading; the value is NaN unless the outcome is OK."""

    signal: str
    entity: str
    value: float = math.nan
    outcome: Outcome = Outcome.OK


class Collector(Protocol):
    """One source of readings. The agent calls `read` from one thread at a time.

    `signals` is everything it may hand back: catalogue names, each due at its own `period_s`.
    A reading that takes longer than `deadline_seconds` has failed; it costs only this collector.
    """

    @property
    def name(self) -> str:
        """Its name in the table, in the inventory and in `agent_collector_*`."""

    @property
    def signals(self) -> tuple[str, ...]:
        """All signals it may hand back."""

    @property
    def deadline_seconds(self) -> float:
        """How long a reading may take."""

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the signals that are `due`, on every entity that is there.

        A value that the device cannot give is UNSUPPORTED, one that could not be read now FAILED.
        Raises CollectorError or OSError if the whole source could not be read.
        """


class Notice(msgspec.Struct, frozen=True):
    """Something that a reading showed to have happened; it becomes an event at once."""

    entity: str
    code: str
    severity: Severity
    text: str


@runtime_checkable
class Noticing(Protocol):
    """A collector that sees events too.

    `events`: signal read -> event watched, at the same entities. So silence counts as evidence.
    """

    @property
    def events(self) -> Mapping[str, str]:
        """Which events are watched where which signal is read."""

    def notices(self) -> list[Notice]:
        """Return what the last reading showed to have happened, once."""


def unsupported(signal: str, entity: str) -> Measurement:
    """Say that this entity cannot give the signal."""
    return Measurement(signal, entity, outcome=Outcome.UNSUPPORTED)


def failed(signal: str, entity: str) -> Measurement:
    """Say that the signal could not be read this time."""
    return Measurement(signal, entity, outcome=Outcome.FAILED)


def not_due(signal: str, entity: str) -> Measurement:
    """Say that there is nothing to tell yet: a first sight, or no operation to average over."""
    return Measurement(signal, entity, outcome=Outcome.NOT_DUE)
