"""Sources of events: each waits in a thread of its own for something to happen."""

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from prometheus_client import CollectorRegistry, Gauge

from exporters.collector import Host
from exporters.host.kernel_cursor import Cursor
from exporters.host.kernel_log import KernelLog
from exporters.job.job_logs import SOURCE as JOB_LOG
from exporters.job.job_logs import JobLogs
from exporters.job.jobs import Jobs
from exporters.job.reporter import ReporterSocket
from exporters.outlet import Outlet
from forewarn.config import Agent as AgentSettings
from forewarn.errors import ForewarnError

logger = logging.getLogger(__name__)
STOP_SECONDS = 1.5


class Stream(Protocol):
    """A source of events."""

    def run(self, stop: threading.Event) -> None:
        """Work until `stop`."""


class Streams:
    """The streams of one agent, less those disabled."""

    def __init__(
        self,
        settings: AgentSettings,
        host: Host,
        state: Path,
        outlet: Outlet,
        registry: CollectorRegistry,
    ) -> None:
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._kernel_log = KernelLog(
            host, settings.kernel_log, Cursor(state / "kernel_log.json"), outlet, registry
        )
        path = settings.reporter_socket or str(state / "reporter.sock")
        jobs = Jobs(host.entity, outlet)
        table: dict[str, Stream] = {
            "kernel_log": self._kernel_log,
            "reporter": ReporterSocket(Path(path), jobs, outlet, registry),
        }
        if settings.job_log:
            followed = Jobs(host.entity, outlet, source=JOB_LOG)
            table["job_logs"] = JobLogs(settings.job_log, followed, outlet, registry)
        self._up = Gauge(
            "forewarn_stream_up", "1 while a source of events is served.", ["stream"],
            registry=registry,
        )  # fmt: skip
        self._streams = {n: s for n, s in table.items() if n not in settings.disable}

    def start(self, others: Mapping[str, Stream]) -> None:
        """Start all, and others by name; one that dies is told and leaves the others alone."""
        self._streams.update(others)
        for name, stream in self._streams.items():
            thread = threading.Thread(
                target=self._guard, args=(name, stream), name=name, daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def _guard(self, name: str, stream: Stream) -> None:
        self._up.labels(name).set(1)
        try:
            stream.run(self._stop)
        except ForewarnError as error:
            logger.error("stream %s ended, its events are missing from now on: %s", name, error)
        except Exception:
            logger.exception("stream %s has a bug, its events are missing from now on", name)
        finally:
            self._up.labels(name).set(0)

    def stop(self) -> None:
        """Ask all to end and wait for them, shortly."""
        self._stop.set()
        end = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def settle(self) -> None:
        """Save what was handed over to the bus."""
        if "kernel_log" in self._streams:
            self._kernel_log.save()
