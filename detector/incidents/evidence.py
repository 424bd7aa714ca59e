"""Which findings an incident shows: all of a small one, of a large one the most telling."""

from collections.abc import Iterable

import msgspec

from detector.incidents.kinds import Sign, sign_of
from forewarn.incident import Incident
from forewarn.records import SEVERITIES, Finding

# A row of this many findings is about 100 kB, and ranking it takes some 10 ms. Three signals of
# 32 devices (a rack, say) fit.
MAX_EVIDENCE = 100


def select(findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Divide findings into those to show and those to count; the first is always shown.

    Of each sign the gravest come first, turn by turn, so that none crowds out another.
    """
    everything = tuple(findings)
    if len(everything) <= MAX_EVIDENCE:
        return everything, ()
    turns: dict[Sign, int] = {}
    ranked: list[tuple[int, int, int, int]] = []
    order = sorted(range(1, len(everything)), key=lambda at: -_severity(everything[at]))
    for at in order:
        sign = sign_of(everything[at])
        turns[sign] = turns.get(sign, 0) + 1
        own = everything[at]
        ranked.append((turns[sign], -_severity(own), own.opened_at_unix_nano, at))
    shown = {0, *(own[3] for own in sorted(ranked)[: MAX_EVIDENCE - 1])}
    return (
        tuple(own for at, own in enumerate(everything) if at in shown),
        tuple(own for at, own in enumerate(everything) if at not in shown),
    )


def hold(incident: Incident, findings: Iterable[Finding]) -> tuple[Incident, tuple[Finding, ...]]:
    """Return the incident with these findings as all that is shown or newly counted, and those."""
    shown, left = select(findings)
    grown = msgspec.structs.replace(
        incident,
        evidence=shown,
        evidence_left_out=incident.evidence_left_out + len(left),
        evidence_left_out_open=incident.evidence_left_out_open + sum(map(is_open, left)),
    )
    return grown, left


def is_open(finding: Finding) -> bool:
    """Say whether it keeps its incident open: not over, and more than a word in passing."""
    return finding.closed_at_unix_nano is None and finding.severity != "info"


def superseded(evidence: tuple[Finding, ...], by: Finding) -> tuple[Finding, ...]:
    """Close findings that their detector has begun anew: after a restart it knows no older ones."""
    key = (by.entity, by.signal, by.family, by.movement, by.code)
    same = [
        own.closed_at_unix_nano is None
        and (own.entity, own.signal, own.family, own.movement, own.code) == key
        for own in evidence
    ]
    if not any(same):
        return evidence
    ended = by.opened_at_unix_nano
    return tuple(
        msgspec.structs.replace(own, closed_at_unix_nano=ended) if it else own
        for own, it in zip(evidence, same, strict=True)
    )


def _severity(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)
