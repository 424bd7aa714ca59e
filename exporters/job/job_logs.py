"""Follows the logs of training jobs that do not report by themselves."""

import glob
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge

from exporters.job.follower import Follower, Identity, identity
from exporters.job.huggingface import HuggingFace
from exporters.job.job_log import Format, Log, job_name
from exporters.job.jobs import Jobs
from exporters.job.megatron import Megatron
from exporters.outlet import Outlet
from forewarn.config import JobLog

logger = logging.getLogger(__name__)
SOURCE = "job_log"
POLL_SECONDS, SCAN_SECONDS, TEND_SECONDS = 0.5, 2.0, 1.0
SILENT_SECONDS = 3600.0  # a log that says nothing this long is of a job that is over
VANISHED_SECONDS = 60.0  # a rotation leaves a path empty for a moment
FRESH_BYTES = 16 << 20  # a new file with more than this was not written since the last scan
MAX_LOGS = 256
FORMATS: dict[str, Callable[[], Format]] = {"megatron": Megatron, "huggingface": HuggingFace}


class JobLogs:
    """Looks for logs and follows them, until stopped."""

    def __init__(
        self,
        settings: tuple[JobLog, ...],
        jobs: Jobs,
        outlet: Outlet,
        registry: CollectorRegistry,
        clock: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._jobs, self._outlet = settings, jobs, outlet
        self._clock, self._monotonic = clock, monotonic
        self._logs: dict[Path, Log] = {}
        self._seen: set[Identity] = set()
        self._scanned = False
        self._told: dict[Path, str] = {}
        self._lines = Counter(
            "forewarn_job_log_lines", "Lines of job logs: taken, passed_over, too_long.",
            ["outcome"], registry=registry,
        )  # fmt: skip
        self._followed = Gauge(
            "forewarn_job_logs_followed", "Job logs that are followed.", registry=registry
        )

    def run(self, stop: threading.Event) -> None:
        """Follow until `stop`."""
        next_scan = next_tend = self._monotonic()
        while not stop.wait(POLL_SECONDS):
            now = self._monotonic()
            if now >= next_scan:
                next_scan = now + SCAN_SECONDS
                self.scan()
            self.poll()
            if now >= next_tend:
                next_tend = now + TEND_SECONDS
                self._jobs.tend()
                self._outlet.announcer.announce()
        for log in self._logs.values():
            log.follower.close()

    def scan(self) -> None:
        """Look for logs that appeared, and leave those that are gone.

        What is there at the first scan is read from its end. A file that is followed under
        another name (it was rotated) is known by its inode.
        """
        matched = {
            Path(name): log
            for log in self._settings
            for name in glob.glob(log.path, recursive=True)  # noqa: PTH207 - absolute patterns
        }
        there = {path: found for path in matched if (found := identity(path))}
        for path, (own, size) in there.items():
            if path not in self._logs and own not in self._seen:
                self._begin(path, matched[path], not self._scanned or size > FRESH_BYTES)
        self._leave(there)
        followed = {log.follower.identity for log in self._logs.values()}
        present = {own for own, _ in there.values()}
        self._seen = {own for own in followed if own is not None} | (self._seen & present)
        self._scanned = True
        self._followed.set(len(self._logs))

    def _begin(self, path: Path, settings: JobLog, at_end: bool) -> None:
        if len(self._logs) >= MAX_LOGS:
            self._tell(path, f"more than {MAX_LOGS} logs, this one is not followed")
            return
        try:
            follower = Follower(path, at_end)
        except OSError as error:
            self._tell(path, str(error))
            return
        own = FORMATS[settings.format]()
        log = Log(follower, own, job_name(settings, path), self._jobs, began=not at_end)
        log.heard_at = self._monotonic()
        self._logs[path] = log
        self._seen.add(follower.identity or (0, 0))
        logger.info("job log %s is followed as job %s", path, log.job)

    def _leave(self, there: dict[Path, tuple[Identity, int]]) -> None:
        now = self._monotonic()
        for path, log in list(self._logs.items()):
            silent = now - log.heard_at
            if silent > SILENT_SECONDS:
                log.lose()
            if path not in there and silent > VANISHED_SECONDS:
                log.lose()
                log.follower.close()
                del self._logs[path]

    def poll(self) -> None:
        """Read what the logs got; one that cannot be read is told once and tried again."""
        for path, log in self._logs.items():
            try:
                lines = log.follower.read()
            except OSError as error:
                self._tell(path, str(error))
                continue
            self._tell(path, "")
            self._take(log, lines)

    def _take(self, log: Log, lines: list[str]) -> None:
        now = self._clock()
        taken = sum(log.take(line, now) for line in lines)
        if lines:
            log.heard_at = self._monotonic()
        too_long, log.follower.too_long = log.follower.too_long, 0
        counts = {"taken": taken, "passed_over": len(lines) - taken, "too_long": too_long}
        for outcome, count in counts.items():
            if count:
                self._lines.labels(outcome).inc(count)

    def _tell(self, path: Path, problem: str) -> None:
        before = self._told.get(path, "")
        if problem and problem != before:
            logger.error("job log %s cannot be followed: %s", path, problem)
        elif before and not problem:
            logger.info("job log %s is followed again", path)
        self._told[path] = problem
