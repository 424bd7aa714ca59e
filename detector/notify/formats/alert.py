"""The alert about ourselves: a note could not be delivered on its channel."""

from collections.abc import Callable

import msgspec

from detector.notify.formats.generic import rfc3339
from detector.notify.outbox import Note, Row
from forewarn.language import Text

TYPE = "io.forewarn.delivery.failed"


def alert_note(
    cluster: str, channel: str, row: Row, reason: str, now: int
) -> Callable[[str], Note]:
    """Return what makes the note for each other channel; one a row that was given up."""
    key = f"undelivered:{channel}:{row.id}"
    title = Text(
        f"Channel {channel} could not be told of {row.note.incident}: {reason}",
        f"渠道 {channel} 未能送达事件 {row.note.incident}：{reason}",
    )
    event = {
        "specversion": "1.0",
        "id": key,
        "source": f"/cluster/{cluster}",
        "type": TYPE,
        "subject": row.note.incident,
        "time": rfc3339(now),
        "datacontenttype": "application/json",
        "data": {
            "channel": channel,
            "incident": row.note.incident,
            "undelivered": row.note.webhook_id,
            "attempts": row.attempts + 1,
            "reason": reason,
            "title": title,
        },
    }
    body = msgspec.json.encode(event)
    return lambda other: Note(other, f"channel/{channel}", key, "alert", body, now)
