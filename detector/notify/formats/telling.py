"""What every format gets: one change of one incident, or a note that never arrived."""

from typing import Literal

import msgspec

from forewarn.incident import Incident
from forewarn.language import Language, Text

Kind = Literal["open", "update", "resolve"]


class Telling(msgspec.Struct, frozen=True):
    """One change to be told; `webhook_id` is its idempotency key, `links` are by name."""

    incident: Incident
    kind: Kind
    reasons: tuple[str, ...]
    webhook_id: str
    notified_at_unix_nano: int
    language: Language = "en"
    links: dict[str, str] = {}


class Undelivered(msgspec.Struct, frozen=True):
    """A note that will never be delivered on its channel; `key` names this telling of it."""

    cluster: str
    channel: str
    incident: str
    webhook_id: str
    attempts: int
    reason: str
    key: str
    time_unix_nano: int

    @property
    def title(self) -> Text:
        """Say it in both languages."""
        return Text(
            f"Channel {self.channel} could not be told of {self.incident}: {self.reason}",
            f"渠道 {self.channel} 未能送达事件 {self.incident}：{self.reason}",
        )


def webhook_id(incident: Incident) -> str:
    """Return the idempotency key of a revision: `incident:generation:seq`."""
    return f"{incident.id}:{incident.generation}:{incident.seq}"
