"""What a channel is: it takes one row and says what became of it."""

from typing import Literal, Protocol

import msgspec

from detector.notify.outbox import Row

Outcome = Literal["ok", "later", "retry", "permanent", "gone"]


class Result(msgspec.Struct, frozen=True):
    """What became of one attempt; `detail` is safe to show: no URL, no token.

    `after_seconds` is how long the receiver asked to be left alone, or, with "later", how long
    this row is to wait before it is sent at all.
    """

    outcome: Outcome
    detail: str
    after_seconds: float | None = None


class Channel(Protocol):
    """A place that is told. `send` never raises for what the other side does."""

    name: str

    def send(self, row: Row) -> Result:
        """Make one attempt."""

    def remind(self) -> Result | None:
        """Say again what the other side would forget; None where nothing is due."""
        return None

    def close(self) -> None:
        """Let go of connections."""
