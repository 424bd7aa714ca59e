"""The Unix socket that training processes report to: JSON lines in, typed lines to `Jobs`."""

import logging
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from prometheus_client import CollectorRegistry, Counter

from exporters.job.jobs import Jobs
from exporters.job.lines import Close, Dropped, Hello, LineError, Note, Span, Step, parse
from exporters.outlet import Outlet
from exporters.splitter import Splitter
from forewarn.errors import ConfigError, ForewarnError

logger = logging.getLogger(__name__)
MAX_LINE_BYTES = 65_536
MAX_CONNECTIONS = 1024
READ_BYTES = 65_536
MAX_PATH_BYTES = 107  # sockaddr_un, unix(7)
TEND_SECONDS = 1.0
WAKE_SECONDS = 0.25  # how soon a stop is seen
DRAIN_SECONDS = 0.5
REFUSED_SECONDS = 0.05


class Connection:
    """One process that reports."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.pid = _peer(sock)
        self.splitter = Splitter(MAX_LINE_BYTES)
        self.hello: Hello | None = None
        self.dropped = 0


def _peer(sock: socket.socket) -> int:
    """Return the process at the other end as this node numbers it, 0 where it cannot.

    Source: unix(7), SO_PEERCRED. A process in a container knows only its number there.
    """
    pid, _, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


class ReporterSocket:
    """Serves the socket until stopped; a bad line is counted and buried, the rest goes on."""

    def __init__(
        self,
        path: Path,
        jobs: Jobs,
        outlet: Outlet,
        registry: CollectorRegistry,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self._jobs, self._outlet, self._monotonic = jobs, outlet, monotonic
        self._selector = selectors.DefaultSelector()
        self._count = 0
        self._trouble: int | None = None
        self._lines = Counter(
            "forewarn_reporter_lines",
            "Lines of training processes: taken, bad, too_long.",
            ["outcome"], registry=registry,
        )  # fmt: skip
        for outcome in ("taken", "bad", "too_long"):  # a rate sees the first one only from 0
            self._lines.labels(outcome)
        self._dropped = Counter(
            "forewarn_reporter_dropped",
            "Lines that training processes dropped while the agent was away.", registry=registry,
        )  # fmt: skip

    def run(self, stop: threading.Event) -> None:
        """Serve until `stop`. Raises ConfigError if the socket cannot be made."""
        listener = self._listen()
        self._selector.register(listener, selectors.EVENT_READ)
        next_tend = self._monotonic() + TEND_SECONDS
        try:
            while not stop.is_set():
                left = next_tend - self._monotonic()
                self._serve(listener, min(WAKE_SECONDS, max(0.0, left)))
                if self._monotonic() >= next_tend:
                    next_tend = self._monotonic() + TEND_SECONDS
                    self._jobs.tend()
                    self._outlet.announcer.announce()
            self._drain(listener)
        finally:
            self._close(listener)

    def _listen(self) -> socket.socket:
        if len(str(self.path).encode()) > MAX_PATH_BYTES:
            text = f"agent.reporter_socket: {self.path} is longer than {MAX_PATH_BYTES} bytes"
            raise ConfigError(text)
        self._replace_stale()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            listener.bind(str(self.path))
            self.path.chmod(0o666)  # any user's job may report; the folder decides who gets here
            listener.listen(MAX_CONNECTIONS)
        except OSError as error:
            listener.close()
            raise ConfigError(f"agent.reporter_socket: {self.path}: {error.strerror}") from error
        listener.setblocking(False)
        return listener

    def _replace_stale(self) -> None:
        """Take away the socket of an agent that is gone. Raises ConfigError if one answers."""
        if not self.path.is_socket():
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(self.path))
            except ConnectionRefusedError:
                self.path.unlink()
                return
            except OSError as error:
                text = f"agent.reporter_socket: {self.path}: {error.strerror}"
                raise ConfigError(text) from error
        raise ConfigError(f"agent.reporter_socket: {self.path}: another agent serves it")

    def _drain(self, listener: socket.socket) -> None:
        """Read what was sent before the stop; who goes on sending is not waited for."""
        end = self._monotonic() + DRAIN_SECONDS
        while self._monotonic() < end and self._serve(listener, 0.0):
            pass

    def _serve(self, listener: socket.socket, wait_seconds: float) -> bool:
        """Handle what is ready; say whether anything was."""
        ready = self._selector.select(wait_seconds)
        for key, _ in ready:
            if key.fileobj is listener:
                self._accept(listener)
            else:
                self._read(key.data)
        return bool(ready)

    def _accept(self, listener: socket.socket) -> None:
        try:
            sock, _ = listener.accept()
        except OSError as error:
            self._refuse(error)
            return
        if self._count >= MAX_CONNECTIONS:
            logger.warning("reporter: more than %d connections, one refused", MAX_CONNECTIONS)
            sock.close()
            return
        self._trouble = None
        sock.setblocking(False)
        self._count += 1
        self._selector.register(sock, selectors.EVENT_READ, Connection(sock))

    def _refuse(self, error: OSError) -> None:
        """No file descriptor is left, say: told once per change; who waits is asked again later."""
        if error.errno != self._trouble:
            logger.warning("reporter: a connection cannot be taken: %s", error.strerror)
        self._trouble = error.errno
        time.sleep(REFUSED_SECONDS)  # the one who waits stays ready: without it, a busy loop

    def _read(self, connection: Connection) -> None:
        try:
            data = connection.socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(connection)
            return
        lines, too_long = connection.splitter.feed(data)
        if too_long:
            self._lines.labels("too_long").inc(too_long)
            self._outlet.dead.bury("bad_report", f"a line of more than {MAX_LINE_BYTES} bytes", b"")
        for line in lines:
            self._take(connection, line)

    def _take(self, connection: Connection, line: bytes) -> None:
        try:
            self._apply(connection, line)
        except ForewarnError as error:
            self._lines.labels("bad").inc()
            self._outlet.dead.bury("bad_report", f"reporter: {error}", line)
        else:
            self._lines.labels("taken").inc()

    def _apply(self, connection: Connection, data: bytes) -> None:
        line = parse(data)
        if isinstance(line, Hello):
            line = msgspec.structs.replace(line, pid=connection.pid or line.pid)
            self._jobs.hello(line)
            connection.hello = line
            self._outlet.announcer.announce()
            return
        if connection.hello is None:
            raise LineError("the first line of a connection must be of kind hello")
        self._report(connection, connection.hello, line)

    def _report(
        self, connection: Connection, hello: Hello, line: Step | Span | Note | Dropped | Close
    ) -> None:
        match line:
            case Step():
                self._jobs.step(hello, line)
            case Span():
                self._jobs.span(hello, line)
            case Note():
                self._jobs.note(hello, line)
            case Close():
                self._jobs.close(hello, line)
            case Dropped():
                self._dropped.inc(max(0, line.total - connection.dropped))
                connection.dropped = line.total

    def _drop(self, connection: Connection) -> None:
        self._selector.unregister(connection.socket)
        connection.socket.close()
        self._count -= 1
        if connection.hello is not None:
            self._jobs.gone(connection.hello)

    def _close(self, listener: socket.socket) -> None:
        """Close everything; the socket's file goes, so that reporters see at once we are away."""
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fileobj)
            if isinstance(key.data, Connection):
                key.data.socket.close()
        listener.close()
        self._selector.close()
        self.path.unlink(missing_ok=True)
