"""/metrics: the latest reading of every series under its catalogue name, for Prometheus."""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector as PrometheusCollector

from exporters.collector import Measurement
from forewarn.catalogue import CATALOGUE, Kind, Signal
from forewarn.catalogue.labels import labels
from forewarn.config import address
from forewarn.errors import ConfigError
from forewarn.records import Outcome


class Latest(PrometheusCollector):
    """The latest readings by source and signal; safe for threads.

    Only good readings are shown: a series that failed, is unsupported or is gone is not there, and
    `forewarn_readings_total{outcome=…}` counts it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)

    def update(
        self, source: str, measurements: Iterable[Measurement], due: Iterable[str] = ()
    ) -> None:
        """Replace the series of every signal that is `due` or among `measurements`."""
        fresh: dict[str, dict[str, float]] = defaultdict(dict, {signal: {} for signal in due})
        for m in measurements:
            series = fresh[m.signal]
            if m.outcome is Outcome.OK:
                series[m.entity] = m.value
        with self._lock:
            self._held[source].update(fresh)

    def forget(self, source: str) -> None:
        """Drop all series of a source that has ended."""
        with self._lock:
            self._held.pop(source, None)

    def describe(self) -> Iterable[Metric]:
        """Name nothing in advance: what is there depends on the node."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield one family a signal."""
        with self._lock:
            series: dict[str, dict[str, float]] = defaultdict(dict)
            for own in self._held.values():
                for signal, values in own.items():
                    series[signal].update(values)
        for signal, values in sorted(series.items()):
            if values:
                yield _family(CATALOGUE[signal], values)


def _family(signal: Signal, values: dict[str, float]) -> Metric:
    """Make one family; the exposition format names a counter without its `_total`."""
    kind = "counter" if signal.kind is Kind.COUNTER else "gauge"
    family = Metric(signal.name.removesuffix("_total"), signal.help.en, kind)
    for entity, value in sorted(values.items()):
        family.add_sample(signal.name, labels(entity), value)
    return family


class Server:
    """Serves a registry at `listen`, as prometheus_client does it; `key` names it in errors."""

    def __init__(self, listen: str, registry: CollectorRegistry, key: str = "agent.listen") -> None:
        host, port = address(listen, key)
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except OSError as error:
            raise ConfigError(f"{key}: {listen}: {error.strerror}") from error
        self.port: int = self._server.server_port

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(1.0)
