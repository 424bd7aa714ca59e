"""Asks the runbook what could be behind an incident, and words the incident accordingly."""

from typing import Protocol

import msgspec

from forewarn.incident import Hypothesis, Incident
from forewarn.inventory import Inventory
from forewarn.language import Text
from forewarn.records import SEVERITIES, Finding, Severity
from runbooks import UNKNOWN, Counts
from runbooks.render import finding_text


class Ranker(Protocol):
    """Ranks the possible causes of an incident, best first; pure."""

    def __call__(
        self, incident: Incident, inventory: Inventory, counts: Counts
    ) -> tuple[Hypothesis, ...]:
        """Return the hypotheses with the counts that were used."""


def assess(incident: Incident, ranker: Ranker, inventory: Inventory, counts: Counts) -> Incident:
    """Return the incident with its causes ranked and title and severity that follow from them."""
    ranked = tuple(_judged(own, incident) for own in ranker(incident, inventory, counts))
    return msgspec.structs.replace(
        incident,
        hypotheses=ranked,
        severity=gravest(incident.evidence),
        title=_title(ranked, incident.evidence[0]),
    )


def _judged(hypothesis: Hypothesis, incident: Incident) -> Hypothesis:
    """Keep what a person said of this very cause: the latest word counts."""
    for word in reversed(incident.feedback):
        if (word.entry, word.rev) == (hypothesis.entry, hypothesis.rev):
            return msgspec.structs.replace(hypothesis, status=word.verdict)
    return hypothesis


def gravest(findings: tuple[Finding, ...]) -> Severity:
    """Return the highest severity among findings."""
    return max((finding.severity for finding in findings), key=SEVERITIES.index)


def _title(ranked: tuple[Hypothesis, ...], opener: Finding) -> Text:
    if ranked and ranked[0].entry != UNKNOWN:
        return ranked[0].title
    return finding_text(opener)
