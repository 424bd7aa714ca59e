"""Ranks an incident's causes by the runbook table."""

from forewarn.incident import Hypothesis, Incident
from forewarn.inventory import Inventory
from runbooks import Counts, Evidence, Table, match, rank


class RunbookRanker:
    """Matches and ranks; the counts used are those of the hardware at each cause's entity."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __call__(
        self, incident: Incident, inventory: Inventory, counts: Counts
    ) -> tuple[Hypothesis, ...]:
        """Return the hypotheses, best first."""
        job = incident.jobs[0] if len(incident.jobs) == 1 else ""
        evidence = Evidence(incident.evidence, inventory, job)
        return rank(self._table, match(self._table, evidence), evidence, counts)
