"""Every error that Forewarn raises on purpose.

ForewarnError
├── ConfigError      a setting is unknown, of a wrong type or out of range; names file and key
├── CatalogueError   the catalogue contradicts itself; names file and line
│   └── UnknownSignalError   no such signal; names the nearest ones
├── EntityError      a text is no entity
├── WireError        bytes are no record of ours; `reason` is the dead letter's
├── BusError         the bus refused or could not be reached
└── EntryError       a runbook entry is broken; names file and line
"""


class ForewarnError(Exception):
    """Base of all errors meant for people; `exit_code` is what the CLI ends with."""

    exit_code = 1


class ConfigError(ForewarnError):
    """A setting is unknown, of a wrong type or out of range."""

    exit_code = 2


class CatalogueError(ForewarnError):
    """The catalogue of signals contradicts itself."""


class UnknownSignalError(CatalogueError):
    """No signal has that name or alias."""


class EntityError(ForewarnError, ValueError):
    """A text is no entity."""


class WireError(ForewarnError):
    """Bytes are no record of ours.

    `reason` is one of `wire.REASONS`: a closed list, so that it can label a metric.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class BusError(ForewarnError):
    """The bus refused a record or could not be reached."""


class EntryError(ForewarnError):
    """A runbook entry is broken; the message names file and line."""

    exit_code = 2
