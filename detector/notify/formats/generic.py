"""The generic webhook: CloudEvents 1.0 in structured JSON, at most 256 KB, both languages."""

import datetime as dt
import math

import msgspec

from detector.notify.formats.telling import Telling, Undelivered
from forewarn.incident import Hypothesis, Incident, Point, Step
from forewarn.records import Finding

MAX_BYTES = 256 * 1024
TOP_CAUSES = 5
MAX_AFFECTED = 1000  # names; a job of 10,000 ranks would fill the body with them
TYPES = {
    "open": "io.forewarn.incident.opened",
    "update": "io.forewarn.incident.updated",
    "resolve": "io.forewarn.incident.resolved",
}
UNDELIVERED_TYPE = "io.forewarn.delivery.failed"


def render(telling: Telling) -> bytes:
    """Return the body; evidence is cut (and that is said) until it fits 256 KB."""
    evidence = telling.incident.evidence
    keep = len(evidence)
    while len(body := _event(telling, evidence[:keep])) > MAX_BYTES and keep:
        keep //= 2
    return body


def _event(telling: Telling, evidence: tuple[Finding, ...]) -> bytes:
    incident = telling.incident
    event = {
        "specversion": "1.0",
        "id": telling.webhook_id,
        "source": f"/cluster/{incident.cluster}",
        "type": TYPES[telling.kind],
        "subject": incident.id,
        "time": rfc3339(telling.notified_at_unix_nano),
        "datacontenttype": "application/json",
        "data": {
            "incident": _summary(telling),
            "top_causes": [_cause(own) for own in incident.hypotheses[:TOP_CAUSES]],
            "evidence": [_finding(own, incident) for own in evidence],
            "evidence_left_out": incident.evidence_left_out
            + len(incident.evidence)
            - len(evidence),
            "links": telling.links,
        },
    }
    return msgspec.json.encode(event)


def undelivered(lost: Undelivered) -> bytes:
    """Return the body that says that a note could not be delivered on another channel."""
    event = {
        "specversion": "1.0",
        "id": lost.key,
        "source": f"/cluster/{lost.cluster}",
        "type": UNDELIVERED_TYPE,
        "subject": lost.incident,
        "time": rfc3339(lost.time_unix_nano),
        "datacontenttype": "application/json",
        "data": {
            "channel": lost.channel,
            "incident": lost.incident,
            "undelivered": lost.webhook_id,
            "attempts": lost.attempts,
            "reason": lost.reason,
            "title": lost.title,
        },
    }
    return msgspec.json.encode(event)


def _summary(telling: Telling) -> dict[str, object]:
    incident = telling.incident
    return {
        "id": incident.id,
        "key": incident.key,
        "generation": incident.generation,
        "seq": incident.seq,
        "reasons": telling.reasons,
        "state": incident.state,
        "severity": incident.severity,
        "title": incident.title,
        "cluster": incident.cluster,
        "entity": incident.entity,
        "affected": incident.affected[:MAX_AFFECTED],
        "affected_count": len(incident.affected),
        "jobs": incident.jobs,
        "merged_into": incident.merged_into or None,
        **_times(incident, telling.notified_at_unix_nano),
    }


def _times(incident: Incident, notified: int) -> dict[str, object]:
    """Write each time twice: to be read, and whole in nanoseconds to be measured with."""
    times = {
        "first_evidence_at": incident.first_evidence_at_unix_nano,
        "detected_at": incident.detected_at_unix_nano,
        "updated_at": incident.updated_at_unix_nano,
        "notified_at": notified,
        "mitigated_at": incident.mitigated_at_unix_nano,
        "resolved_at": incident.resolved_at_unix_nano,
    }
    written: dict[str, object] = {
        name: None if time is None else rfc3339(time) for name, time in times.items()
    }
    return written | {f"{name}_unix_nano": time for name, time in times.items()}


def _cause(own: Hypothesis) -> dict[str, object]:
    return {
        "runbook": f"{own.entry}@{own.rev}",
        "kind": own.kind,
        "entity": own.entity,
        "title": own.title,
        "share": round(own.share, 4),
        "status": own.status,
        "for": [_point(point) for point in own.support],
        "against": [_point(point) for point in own.against],
        "not_collected": [_point(point) for point in own.missing],
        "first_step": _step(own.first_step),
        "next_check": _step(own.next_check),
        "drain": own.drain,
        "counts": {"confirmed": own.counts[0], "refuted": own.counts[1]},
    }


def _point(point: Point) -> dict[str, object]:
    return {"text": point.text, "weight": round(point.weight, 4), "findings": point.findings}


def _step(step: Step | None) -> dict[str, object] | None:
    return None if step is None else msgspec.structs.asdict(step)


def _state(own: Finding, incident: Incident) -> str:
    """Say whether a finding is open or over, or whether nobody knows."""
    if own.closed_at_unix_nano is not None:
        return "over"
    return "not_collected" if own.id in incident.not_collected else "open"


def _finding(own: Finding, incident: Incident) -> dict[str, object]:
    closed = own.closed_at_unix_nano
    return {
        "id": own.id,
        "entity": own.entity,
        "signal": own.signal,
        "movement": own.movement,
        "family": own.family,
        "code": own.code or None,
        "value_class": own.value_class,
        "observed": own.observed,
        "expected": own.expected,
        "unit": own.unit,
        "severity": own.severity,
        "state": _state(own, incident),
        "surprise": own.surprise if math.isfinite(own.surprise) else None,
        "opened_at": rfc3339(own.opened_at_unix_nano),
        "opened_at_unix_nano": own.opened_at_unix_nano,
        "closed_at": None if closed is None else rfc3339(closed),
        "text": own.text,
    }


def rfc3339(unix_nano: int) -> str:
    """Write a time as RFC 3339 in UTC with all nine digits."""
    seconds, nanoseconds = divmod(unix_nano, 1_000_000_000)
    moment = dt.datetime.fromtimestamp(seconds, tz=dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"
