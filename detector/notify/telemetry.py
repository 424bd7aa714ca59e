"""Metrics of delivery."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

# From a local receiver to one that is away for a while.
BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 3600)


class DeliveryMetrics:
    """Counts attempts by channel and outcome, and how long telling took."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._deliveries = Counter(
            "forewarn_deliveries",
            "Attempts to tell of an incident, by channel and outcome.",
            ["channel", "outcome"],
            registry=registry,
        )
        self._reminders = Counter(
            "forewarn_reminders",
            "Requests that said again what stands at a receiver, by channel and outcome.",
            ["channel", "outcome"],
            registry=registry,
        )
        self._latency = Histogram(
            "forewarn_delivery_latency_seconds",
            "Time from the change of an incident to its delivery.",
            ["channel"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._dead = Counter(
            "forewarn_deliveries_given_up",
            "Notes that will never be delivered on their channel.",
            ["channel"],
            registry=registry,
        )
        self._pending = Gauge(
            "forewarn_outbox_pending",
            "Notes that wait to be delivered.",
            ["channel"],
            registry=registry,
        )

    def watch_pending(
        self, channels: Iterable[str], pending: Callable[[], Mapping[str, int]]
    ) -> None:
        """Read what waits whenever it is asked for; what is given up counts from 0."""
        for name in channels:
            self._dead.labels(name)
            self._pending.labels(name).set_function(partial(_waiting, pending, name))

    def count(self, channel: str, outcome: str) -> None:
        """Count one attempt."""
        self._deliveries.labels(channel, outcome).inc()

    def reminded(self, channel: str, outcome: str) -> None:
        """Count one reminder."""
        self._reminders.labels(channel, outcome).inc()

    def latency(self, channel: str, seconds: float) -> None:
        """Note how long it took to tell."""
        self._latency.labels(channel).observe(seconds)

    def given_up(self, channel: str) -> None:
        """Count one note that is given up."""
        self._dead.labels(channel).inc()


def _waiting(pending: Callable[[], Mapping[str, int]], channel: str) -> float:
    return pending().get(channel, 0)
