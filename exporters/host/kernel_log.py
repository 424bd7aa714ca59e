"""The kernel log becomes events: each line once, forged ones refused, what was missed counted."""

import logging
import os
import select
import stat
import threading
import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter

from exporters.collector import Host
from exporters.host import parts
from exporters.host.kernel_cursor import Cursor, Position
from exporters.host.kernel_lines import KERN, KernelLine, parse
from exporters.host.kernel_rules import match
from exporters.outlet import Outlet
from exporters.splitter import Splitter
from forewarn.config import KernelLog as KernelLogSettings

logger = logging.getLogger(__name__)
SOURCE = "kernel_log"
READ_BYTES = 65536
MAX_LINE_BYTES = 8192  # the kernel's own limit is below (CONSOLE_EXT_LOG_MAX)
WAIT_SECONDS = 0.5
REOPEN_SECONDS = 10.0


class KernelLog:
    """Reads /dev/kmsg (or a file or pipe of its form) until stopped.

    The cursor moves on disk only once the bus has acknowledged the events before it: a crash
    repeats lines (recognised by boot and sequence) but loses none that the kernel still holds. On
    the very first start reading begins with what is said from now on: history is no news.
    """

    def __init__(
        self,
        host: Host,
        settings: KernelLogSettings,
        cursor: Cursor,
        outlet: Outlet,
        registry: CollectorRegistry,
        clock: Callable[[], int] = time.time_ns,
        since_boot: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._host, self._settings, self._cursor, self._outlet = host, settings, cursor, outlet
        self._clock, self._since_boot = clock, since_boot
        self._saved = cursor.load()
        self._last: int | None = None
        if self._saved is not None and self._saved.boot_id == outlet.boot_id:
            self._last = self._saved.sequence
        self._refused = Counter(
            "forewarn_kernel_lines_refused",
            "Kernel log lines not taken: user (facility not kern), too_long, garbage.",
            ["reason"], registry=registry,
        )  # fmt: skip
        for reason in ("user", "too_long", "garbage"):  # a rate sees the first one only from 0
            self._refused.labels(reason)
        self._missed = Counter(
            "forewarn_kernel_lines_missed",
            "Kernel log lines that were overwritten before they were read.", registry=registry,
        )  # fmt: skip
        self._told = ""
        self._splitter = Splitter(MAX_LINE_BYTES)

    def run(self, stop: threading.Event) -> None:
        """Read until `stop`; what cannot be opened is told once and tried again."""
        while not stop.is_set():
            try:
                self._follow(stop)
            except OSError as error:
                self._tell(f"{self._settings.path}: {error.strerror}")
                stop.wait(REOPEN_SECONDS)

    def _follow(self, stop: threading.Event) -> None:
        descriptor = os.open(self._settings.path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            self._begin(descriptor)
            while not stop.is_set():
                self._wait(descriptor, stop)
                self.save()
        finally:
            os.close(descriptor)

    def _begin(self, descriptor: int) -> None:
        self._tell("")
        self._splitter = Splitter(MAX_LINE_BYTES)
        self._declare()
        boot_id = self._outlet.boot_id
        if self._saved is None and stat.S_ISCHR(os.fstat(descriptor).st_mode):
            self._pass_over(descriptor)
        elif self._saved is not None and self._saved.boot_id != boot_id:
            self._outlet.event(
                self._host.entity, "node.boot_id:changed", self._clock(), "minor",
                f"boot {boot_id} after {self._saved.boot_id}", SOURCE,
            )  # fmt: skip
            self._saved = None

    def _pass_over(self, descriptor: int) -> None:
        """Read to the end, keeping only the last sequence: a restart then knows where to go on."""
        while data := self._chunk(descriptor):
            lines = [line for raw in data.splitlines() if (line := parse(raw)) is not None]
            self._last = lines[-1].sequence if lines else self._last

    def _declare(self) -> None:
        """Tell the inventory what is watched, so that silence counts as evidence."""
        for entity, watched in parts.watched(self._host):
            self._outlet.announcer.declare(SOURCE, entity, watched)

    def _wait(self, descriptor: int, stop: threading.Event) -> None:
        """Read once something is there; at the end of a file, wait a little."""
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        ready = poll.poll(WAIT_SECONDS * 1000)
        if ready and not self._read(descriptor):
            stop.wait(WAIT_SECONDS)

    def _read(self, descriptor: int) -> bool:
        """Take one read; say whether there was anything."""
        data = self._chunk(descriptor)
        self.feed(data)
        return bool(data)

    def _chunk(self, descriptor: int) -> bytes:
        """Return what is there to read; nothing at the end."""
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return b""
        except BrokenPipeError:  # overwritten while we were away: read on, the gap will tell
            return self._chunk(descriptor)

    def feed(self, data: bytes) -> None:
        """Take bytes as read; continuation lines begin with a space and are passed over."""
        lines, too_long = self._splitter.feed(data)
        if too_long:
            self._refused.labels("too_long").inc(too_long)
        for raw in lines:
            if raw and not raw.startswith(b" "):
                self._take(raw)

    def _take(self, raw: bytes) -> None:
        line = parse(raw)
        if line is None:
            self._refused.labels("garbage").inc()
            return
        if self._last is not None:
            if line.sequence <= self._last:
                return
            self._missed.inc(line.sequence - self._last - 1)
        self._last = line.sequence
        if line.facility != KERN and not self._settings.accept_user_lines:
            self._refused.labels("user").inc()
            return
        self._tell_event(line)

    def _tell_event(self, line: KernelLine) -> None:
        hit = match(line.text)
        if hit is None:
            return
        boot_unix_nano = self._clock() - self._since_boot()
        self._outlet.event(
            parts.entity(self._host, hit), hit.code,
            boot_unix_nano + line.since_boot_microseconds * 1000,
            hit.severity, line.text, SOURCE, line.sequence,
        )  # fmt: skip

    def save(self) -> None:
        """Move the cursor on disk if all events before it are out."""
        if self._last is None:
            return
        position = Position(self._outlet.boot_id, self._last)
        if position != self._saved and self._outlet.spool.settled():
            self._cursor.save(position)
            self._saved = position

    def _tell(self, problem: str) -> None:
        if problem and problem != self._told:
            logger.error("kernel log cannot be read: %s", problem)
        elif self._told and not problem:
            logger.info("kernel log is read again")
        self._told = problem
