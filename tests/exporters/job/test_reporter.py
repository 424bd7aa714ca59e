import errno
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporters.job.jobs import Jobs
from exporters.job.reporter import ReporterSocket
from forewarn.errors import ConfigError
from tests.exporters.fakes import Line, until

HELLO = {
    "kind": "hello", "version": 1, "job": "4711", "rank": 0, "world_size": 1, "pid": 1,
    "started_unix_nano": 1_800_000_000_000_000_000, "leader": True,
}  # fmt: skip
STEP = {"kind": "step", "step": 1, "time_unix_nano": 5, "loss": 0.5}
LINES = "forewarn_reporter_lines_total"


class Process:
    """A process that writes lines."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # The socket's file is there a moment before it is listened on.
        until(lambda: self.socket.connect_ex(str(path)) == 0)

    def send(self, *lines: object) -> None:
        for line in lines:
            data = line if isinstance(line, bytes) else json.dumps(line).encode()
            self.socket.sendall(data + b"\n")


@pytest.fixture
def served(line: Line, tmp_path: Path) -> Iterator[ReporterSocket]:
    own = ReporterSocket(
        tmp_path / "run/reporter.sock", Jobs("node/n7", line.outlet), line.outlet, line.registry
    )
    stop = threading.Event()
    thread = threading.Thread(target=own.run, args=(stop,))
    thread.start()
    until(own.path.exists)
    yield own
    stop.set()
    thread.join(10)
    assert not thread.is_alive()
    assert not own.path.exists()


@pytest.fixture
def connect(served: ReporterSocket) -> Iterator[Callable[[], Process]]:
    made: list[Process] = []

    def make() -> Process:
        made.append(Process(served.path))
        return made[-1]

    yield make
    for process in made:
        process.socket.close()


def test_a_step_becomes_a_frame(connect: Callable[[], Process], line: Line) -> None:
    connect().send(HELLO, STEP)
    until(lambda: line.frames("jobs"))
    assert line.frames("jobs")[0].source == "reporter:4711"
    assert [event.code for event in line.events()] == ["job.state:running"]


def test_a_bad_line_is_counted_and_buried_and_the_rest_goes_on(
    connect: Callable[[], Process], line: Line
) -> None:
    bad = [b"no json", {"kind": "step", "step": "x", "time_unix_nano": 5}, b"\xff"]
    connect().send(HELLO, *bad, STEP)
    until(lambda: line.frames("jobs"))
    assert line.count(LINES, outcome="bad") == 3
    assert line.count("forewarn_dead_letters_total", reason="bad_report") == 3
    letters = line.letters()
    assert [letter.payload for letter in letters] == [
        b"no json", json.dumps(bad[1]).encode(), b"\xff",
    ]  # fmt: skip
    assert letters[1].message.startswith("reporter: Expected `int`, got `str`")


def test_a_report_before_hello_is_refused(connect: Callable[[], Process], line: Line) -> None:
    connect().send(STEP)
    until(line.letters)
    assert "must be of kind hello" in line.letters()[0].message
    assert line.frames("jobs") == []


def test_an_endless_line_is_counted_and_the_rest_goes_on(
    connect: Callable[[], Process], line: Line
) -> None:
    connect().send(HELLO, b"x" * 1_000_000, STEP)
    until(lambda: line.frames("jobs"))
    assert line.count(LINES, outcome="too_long") == 1


def test_drops_of_a_process_are_counted(connect: Callable[[], Process], line: Line) -> None:
    connect().send(HELLO, {"kind": "dropped", "total": 5}, {"kind": "dropped", "total": 8})
    until(lambda: line.count("forewarn_reporter_dropped_total") == 8)


def test_a_connection_too_many_is_refused(
    connect: Callable[[], Process], monkeypatch: pytest.MonkeyPatch, line: Line
) -> None:
    monkeypatch.setattr("exporters.job.reporter.MAX_CONNECTIONS", 1)
    connect().send(HELLO)
    until(lambda: line.count(LINES, outcome="taken") == 1)
    assert connect().socket.recv(1) == b""


def test_the_socket_of_an_agent_that_was_killed_is_replaced(line: Line, tmp_path: Path) -> None:
    path = tmp_path / "reporter.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(path))
    own = ReporterSocket(path, Jobs("node/n7", line.outlet), line.outlet, line.registry)
    stop = threading.Event()
    thread = threading.Thread(target=own.run, args=(stop,))
    thread.start()
    process = None
    try:
        until(lambda: _answers(path))
        process = Process(path)
        process.send(HELLO)
        until(line.events)
    finally:
        stop.set()
        thread.join(10)
        if process is not None:
            process.socket.close()


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


def test_two_agents_do_not_share_a_socket(served: ReporterSocket, line: Line) -> None:
    other = ReporterSocket.__new__(ReporterSocket)
    other.path = served.path
    with pytest.raises(ConfigError, match="another agent serves it"):
        other._listen()


def test_a_path_too_long_is_a_clear_error(served: ReporterSocket, tmp_path: Path) -> None:
    other = ReporterSocket.__new__(ReporterSocket)
    other.path = tmp_path / ("x" * 120)
    with pytest.raises(ConfigError, match=r"reporter_socket: .* is longer than 107 bytes"):
        other._listen()


def test_a_refused_hello_leaves_the_socket_served(
    connect: Callable[[], Process], line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporters.job.jobs.MAX_RANKS", 0)
    connect().send(HELLO, STEP)
    until(lambda: line.count(LINES, outcome="bad") == 2)
    monkeypatch.setattr("exporters.job.jobs.MAX_RANKS", 1)
    connect().send(HELLO, STEP)
    until(lambda: line.frames("jobs"))


def test_a_connection_that_cannot_be_taken_is_told_and_taken_later(
    connect: Callable[[], Process],
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def accept(_: socket.socket) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as full:
        full.setattr(socket.socket, "accept", accept)
        process = connect()
        until(lambda: "Too many open files" in caplog.text)
    process.send(HELLO, STEP)
    until(lambda: line.frames("jobs"))
    assert caplog.text.count("Too many open files") == 1
