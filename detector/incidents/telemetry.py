"""Metrics of decide."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge

from detector.incidents.lifecycle import LIVE
from forewarn.incident import Incident
from forewarn.records import SEVERITIES

OUTCOMES = ("opened", "held_back")


class DecideMetrics:
    """Counts incidents and findings; labels are closed lists."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._open = Gauge(
            "forewarn_incidents_open",
            "Incidents that are open, acknowledged or mitigated, by severity.",
            ["severity"],
            registry=registry,
        )
        self._opened = Counter(
            "forewarn_incidents", "Incidents opened, by severity.", ["severity"], registry=registry
        )
        self.joined = Counter(
            "forewarn_findings_joined",
            "Findings joined to an incident, updates of known ones left out.",
            registry=registry,
        )
        self.messages = Counter(
            "forewarn_decide_messages", "Messages taken, by topic.", ["topic"], registry=registry
        )
        self.charges = Counter(
            "forewarn_charges",
            "Learned findings that would open an incident, by whether the budget let them.",
            ["outcome"],
            registry=registry,
        )
        for outcome in OUTCOMES:
            self.charges.labels(outcome)
        for severity in SEVERITIES:
            self._opened.labels(severity)
        self.show([])

    def show(self, incidents: Iterable[Incident]) -> None:
        """Set the gauge to what is open now."""
        live = [own.severity for own in incidents if own.state in LIVE]
        for severity in SEVERITIES:
            self._open.labels(severity).set(live.count(severity))

    def opened(self, incident: Incident) -> None:
        """Count a new incident."""
        self._opened.labels(incident.severity).inc()
