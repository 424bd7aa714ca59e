"""One log of a training job: what its lines tell goes on as if the job's leader had reported it."""

import re
from pathlib import Path
from typing import Protocol

import msgspec

from exporters.job import error_lines
from exporters.job.follower import Follower
from exporters.job.jobs import Jobs
from exporters.job.lines import Close, Hello, Phase, Span, Step
from forewarn.config import JobLog
from forewarn.records import NANOSECONDS

REPEAT_NANOSECONDS = 60 * NANOSECONDS  # a rank may print one error many times over


class Format(Protocol):
    """Knows the lines of one kind of log."""

    def read(self, line: str, time_unix_nano: int) -> list[Step | Span | Close]:
        """Return what a line tells."""


class Log:
    """Hands what the lines of one log tell to `Jobs`.

    Lines are taken at the time they are read: the writer's clock and time zone are not known.
    """

    def __init__(
        self, follower: Follower, format_: Format, job: str, jobs: Jobs, began: bool
    ) -> None:
        self.follower, self.job = follower, job
        self.heard_at = 0.0
        self._format, self._jobs = format_, jobs
        self._resumed = not began  # its job was running before we came
        self._hello: Hello | None = None
        self._step = 0
        self._open: dict[Phase, int] = {}  # checkpoint or evaluation -> since when
        self._told: dict[tuple[str, int], int] = {}  # error and rank -> when it was told

    def take(self, line: str, now: int) -> bool:
        """Take one line; say whether it told anything."""
        told = self._format.read(line, now)
        for one in told:
            self._apply(one, now)
        return bool(told) or self._error(line, now)

    def _error(self, line: str, now: int) -> bool:
        """Tell of a known error, of a rank once a minute; say whether the line is one."""
        found = error_lines.read(line, now)
        if found is None or self._hello is None:
            return False
        note, rank = found
        hello = self._hello if rank is None else msgspec.structs.replace(self._hello, rank=rank)
        if now - self._told.get((note.code, hello.rank), -REPEAT_NANOSECONDS) >= REPEAT_NANOSECONDS:
            self._told[note.code, hello.rank] = now
            self._jobs.note(hello, note)
        return True

    def _apply(self, told: Step | Span | Close, now: int) -> None:
        if isinstance(told, Step):
            hello = self._stepped(told, now)
            self._jobs.step(hello, told)
        elif self._hello is None:
            return  # before its first step, nothing is known of the job
        elif isinstance(told, Span):
            self._span(self._hello, told)
        else:
            self._jobs.close(self._hello, told)
            self._hello, self._resumed = None, False

    def _stepped(self, step: Step, now: int) -> Hello:
        """Return the greeting of this run: a step further back than the last one begins anew."""
        if self._hello is None or step.step < self._step:
            self._hello = Hello(
                self.job, 0, 0, 0, now, leader=True, resumed=self._resumed, placed=False
            )
            self._jobs.hello(self._hello)
            self._resumed = False
        self._step = step.step
        for what in list(self._open):  # a step after it: it is over, if nobody said so
            self._span(self._hello, Span(what, "end", now))
        return self._hello

    def _span(self, hello: Hello, span: Span) -> None:
        began = self._open.pop(span.what, None)
        if span.edge == "begin":
            self._open[span.what] = span.time_unix_nano if began is None else began
            if began is None:
                self._jobs.span(hello, span)
        elif began is not None:
            seconds = (span.time_unix_nano - began) / 1e9
            self._jobs.span(hello, Span(span.what, "end", span.time_unix_nano, seconds))

    def lose(self) -> None:
        """Hear no more of the job."""
        if self._hello is not None:
            self._jobs.lose(self._hello)
            self._hello = None


def job_name(settings: JobLog, path: Path) -> str:
    """Return the job of a log: named, found in the path, or the folder's name."""
    if settings.job_pattern:
        match = re.search(settings.job_pattern, str(path))
        if match and match["job"]:
            return match["job"]
    return settings.job or path.absolute().parent.name or path.stem
