"""What every format gets: one change of one incident."""

from typing import Literal

import msgspec

from forewarn.incident import Incident
from forewarn.language import Language

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


def webhook_id(incident: Incident) -> str:
    """Return the idempotency key of a revision: `incident:generation:seq`."""
    return f"{incident.id}:{incident.generation}:{incident.seq}"
