"""Alertmanager's v2 API: one alert an incident, in both languages, at most 64 KB.

Labels are an alert's identity there: `incident_id` never changes, and all but `severity` and the
place stand still too. Annotations hold whatever moves.
"""

from collections.abc import Iterator

import msgspec

from detector.notify.formats.generic import rfc3339
from detector.notify.formats.telling import Telling, Undelivered
from forewarn import entity as entities
from forewarn.incident import Hypothesis, Incident
from forewarn.language import Text
from forewarn.records import NANOSECONDS, Finding
from runbooks import UNKNOWN
from runbooks.render import finding_text

ALERT_NAME, UNDELIVERED_NAME = "ForewarnIncident", "ForewarnDeliveryFailed"
# Alertmanager takes 10 MB and forwards it, and receivers behind it do not: the limit is ours.
MAX_BYTES = 63 * 1024  # of one alert; a request holds 64 KB
MAX_ANNOTATION_BYTES = 3 * 1024
EVIDENCE_LINES, AFFECTED_NAMES = 10, 20
UNDELIVERED_SECONDS = 3600  # how long an alert about a lost note stands: nothing ends it
_ESSENTIAL = frozenset({"summary", "summary_zh", "runbook", "merged_into", "cut"})


class Alert(msgspec.Struct, frozen=True, omit_defaults=True):
    """One alert as the API takes it, times in RFC 3339; without `ends_at` it is firing."""

    labels: dict[str, str]
    annotations: dict[str, str]
    starts_at: str = msgspec.field(name="startsAt")
    ends_at: str = msgspec.field(name="endsAt", default="")
    generator_url: str = msgspec.field(name="generatorURL", default="")


def render(telling: Telling) -> bytes:
    """Return one alert; of a change that ends the incident, with its end."""
    incident, told = telling.incident, telling.notified_at_unix_nano
    alert = Alert(
        labels=labels(incident),
        annotations=dict(_annotations(incident)),
        # A time ahead of Alertmanager's own clock would put the start behind the end: 400.
        starts_at=rfc3339(min(incident.first_evidence_at_unix_nano, told)),
        ends_at=rfc3339(told) if telling.kind == "resolve" else "",
        generator_url=telling.links.get("incident", ""),
    )
    return _fitted(alert)


def undelivered(lost: Undelivered) -> bytes:
    """Return an alert that a note could not be delivered on another channel."""
    alert = Alert(
        labels={
            "alertname": UNDELIVERED_NAME, "cluster": lost.cluster, "channel": lost.channel,
            "severity": "major",
        },
        annotations={
            "summary": cut(lost.title.en), "summary_zh": cut(lost.title.zh),
            "incident_id": lost.incident,
        },
        starts_at=rfc3339(lost.time_unix_nano),
        ends_at=rfc3339(lost.time_unix_nano + UNDELIVERED_SECONDS * NANOSECONDS),
    )  # fmt: skip
    return _fitted(alert)


def labels(incident: Incident) -> dict[str, str]:
    """Return the identity: the incident, how grave it is, and the parts of its place by kind."""
    kinds, names = incident.entity.split("/")[::2], incident.entity.split("/")[1::2]
    place = {kind: entities.plain(name) for kind, name in zip(kinds, names, strict=True)}
    return place | {
        "alertname": ALERT_NAME,
        "cluster": incident.cluster,
        "incident_id": incident.id,
        "severity": incident.severity,
        "entity": incident.entity,
    }


def _annotations(incident: Incident) -> Iterator[tuple[str, str]]:
    words = {
        **_both("summary", incident.title),
        "merged_into": incident.merged_into,
        **(_of_cause(incident.hypotheses[0]) if incident.hypotheses else {}),
        **_both("evidence", _evidence(incident.evidence, incident.evidence_left_out)),
        "affected": _listed(incident.affected),
        "jobs": _listed(incident.jobs),
    }
    yield from ((name, cut(text)) for name, text in words.items() if text)


def _of_cause(cause: Hypothesis) -> dict[str, str]:
    if cause.entry == UNKNOWN:
        return {}
    step = cause.first_step
    return {
        "runbook": f"{cause.entry}@{cause.rev}",
        "cause_share": f"{cause.share:.2f}",
        **_both("first_step", step.text if step else Text()),
        "first_step_command": step.command if step else "",
        "first_step_approval": "needed" if step and step.needs_approval else "",
    }


def _both(name: str, text: Text) -> dict[str, str]:
    return {name: text.say("en"), f"{name}_zh": text.say("zh")}


def _evidence(findings: tuple[Finding, ...], left_out: int) -> Text:
    shown = [(finding_text(own), entities.shown(own.entity)) for own in findings[:EVIDENCE_LINES]]
    more = len(findings) - len(shown) + left_out
    english = [f"{text.say('en')} [{entity}]" for text, entity in shown]
    chinese = [f"{text.say('zh')} [{entity}]" for text, entity in shown]
    if more:
        english.append(f"and {more} more")
        chinese.append(f"另有 {more} 项")
    return Text("\n".join(english), "\n".join(chinese))


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - AFFECTED_NAMES
    return ", ".join(map(entities.shown, names[:AFFECTED_NAMES])) + (
        f", +{more}" if more > 0 else ""
    )


def cut(text: str, limit: int = MAX_ANNOTATION_BYTES) -> str:
    """Return at most `limit` bytes of UTF-8, cut between two characters and marked so."""
    whole = text.encode(errors="replace")
    if len(whole) <= limit:
        return whole.decode()
    return whole[: limit - 3].decode(errors="ignore") + "…"


def _fitted(alert: Alert) -> bytes:
    """Write an alert; text that JSON blows up beyond the limit (control bytes) is left out."""
    body = msgspec.json.encode(alert)
    if len(body) <= MAX_BYTES:
        return body
    kept = {name: cut(own, 256) for name, own in alert.annotations.items() if name in _ESSENTIAL}
    return msgspec.json.encode(
        msgspec.structs.replace(alert, annotations=kept | {"cut": "texts left out: too long"})
    )
