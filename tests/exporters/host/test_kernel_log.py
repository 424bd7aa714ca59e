import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from exporters.collector import Host
from exporters.host.kernel_cursor import Cursor, Position
from exporters.host.kernel_log import KernelLog
from exporters.outlet import Outlet
from forewarn.config import KernelLog as Settings
from tests.exporters.fakes import BOOT_ID, Clock, Line, until

XID = b"3,%d,250000,-;NVRM: Xid (PCI:0000:1a:00): 79, pid=1, GPU has fallen off the bus.\n"
FORGED = b"11,%d,250000,-;NVRM: Xid (PCI:0000:1a:00): 79, pid=1, GPU has fallen off the bus.\n"
REFUSED = "forewarn_kernel_lines_refused_total"


class Bench:
    """A kernel log that reads from one file, with its cursor in a folder."""

    def __init__(self, host: Host, line: Line, clock: Clock, folder: Path) -> None:
        self.path = folder / "kmsg"
        self.cursor = Cursor(folder / "cursor.json")
        self._host, self._line, self._clock = host, line, clock

    def make(self, accept_user_lines: bool = False, outlet: Outlet | None = None) -> KernelLog:
        settings = Settings(path=str(self.path), accept_user_lines=accept_user_lines)
        self.registry = CollectorRegistry()
        return KernelLog(
            self._host, settings, self.cursor, outlet or self._line.outlet, self.registry,
            clock=self._clock.time_ns, since_boot=self._clock.monotonic_ns,
        )  # fmt: skip

    def count(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    @contextmanager
    def running(self, own: KernelLog) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=own.run, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture
def bench(empty: Host, line: Line, clock: Clock, tmp_path: Path) -> Bench:
    return Bench(empty, line, clock, tmp_path)


def test_an_xid_becomes_an_event_at_its_device(bench: Bench, line: Line, clock: Clock) -> None:
    bench.make().feed(XID % 350)
    (event,) = line.events()
    assert (event.entity, event.code) == ("node/n7/gpu/0000:1a:00.0", "nvidia.xid:79")
    assert (event.severity, event.node, event.source) == ("critical", "n7", "kernel_log")
    assert (event.boot_id, event.seq) == (BOOT_ID, 350)
    boot = clock.time_ns() - clock.monotonic_ns()
    assert event.time_unix_nano == boot + 250_000_000


def test_a_forged_line_is_refused_and_counted(bench: Bench, line: Line) -> None:
    bench.make().feed(FORGED % 1)
    assert line.events() == []
    assert bench.count(REFUSED, reason="user") == 1


def test_user_lines_are_taken_when_told_so(bench: Bench, line: Line) -> None:
    bench.make(accept_user_lines=True).feed(FORGED % 1)
    assert [event.code for event in line.events()] == ["nvidia.xid:79"]


def test_a_line_of_a_megabyte_and_garbage_are_counted_and_the_rest_goes_on(
    bench: Bench, line: Line
) -> None:
    own = bench.make()
    for data in (b"3,1,1,-;" + b"x" * 500_000, b"x" * 500_000, b"\n", b"\xff\x00garbage\n"):
        own.feed(data)
    own.feed(b" SUBSYSTEM=pci\n DEVICE=+pci:0000:1a:00.0\n" + XID % 2)
    assert [event.seq for event in line.events()] == [2]
    assert bench.count(REFUSED, reason="too_long") == 1
    assert bench.count(REFUSED, reason="garbage") == 1


def test_a_gap_in_the_sequence_is_counted(bench: Bench) -> None:
    own = bench.make()
    own.feed(XID % 10 + XID % 11 + XID % 15)
    assert bench.count("forewarn_kernel_lines_missed_total") == 3


def test_a_restart_neither_loses_nor_repeats(bench: Bench, line: Line) -> None:
    bench.path.write_bytes(XID % 1 + XID % 2)
    with bench.running(bench.make()):
        until(lambda: bench.cursor.load() == Position(BOOT_ID, 2))
    with bench.path.open("ab") as handle:
        handle.write(XID % 3)
    with bench.running(bench.make()):
        until(lambda: bench.cursor.load() == Position(BOOT_ID, 3))
    assert [event.seq for event in line.events()] == [1, 2, 3]


def test_the_cursor_waits_for_the_bus(bench: Bench, line: Line) -> None:
    own = bench.make()
    line.producer.away = True
    own.feed(XID % 5)
    own.save()
    assert bench.cursor.load() is None
    line.producer.away = False
    until(line.spool.empty)
    own.save()
    assert bench.cursor.load() == Position(BOOT_ID, 5)


def test_a_log_that_ran_over_goes_on_and_counts_the_gap(
    bench: Bench, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[bytes | OSError] = [XID % 1, BrokenPipeError(errno.EPIPE, "overrun"), XID % 9]
    bench.path.write_bytes(b"")
    real = os.read

    def read(descriptor: int, size: int) -> bytes:
        if not reads:
            return real(descriptor, size)
        own = reads.pop(0)
        if isinstance(own, OSError):
            raise own
        return own

    monkeypatch.setattr("exporters.host.kernel_log.os.read", read)
    with bench.running(bench.make()):
        until(lambda: len(line.events()) == 2)
    assert bench.count("forewarn_kernel_lines_missed_total") == 7


def test_a_new_boot_is_told_and_read_from_its_beginning(bench: Bench, line: Line) -> None:
    bench.cursor.save(Position("another boot", 900))
    bench.path.write_bytes(XID % 1)
    with bench.running(bench.make()):
        until(lambda: bench.cursor.load() == Position(BOOT_ID, 1))
    assert [event.code for event in line.events()] == ["node.boot_id:changed", "nvidia.xid:79"]


def test_lines_of_a_pipe_are_read_as_they_come(bench: Bench, line: Line) -> None:
    os.mkfifo(bench.path)
    with bench.running(bench.make()), bench.path.open("wb", buffering=0) as pipe:
        data = XID % 7
        pipe.write(data[:20])
        pipe.write(data[20:])
        until(line.events)
    assert [event.seq for event in line.events()] == [7]


def test_what_is_watched_is_in_the_inventory(
    bench: Bench, line: Line, put: Callable[[str, str], None]
) -> None:
    put("sys/bus/pci/devices/0000:1a:00.0/vendor", "0x10de\n")
    put("sys/bus/pci/devices/0000:1a:00.0/class", "0x030200\n")
    bench.path.write_bytes(b"")
    with bench.running(bench.make()):
        until(lambda: (line.announcer.announce(), len(line.items()) == 2)[1])
    watched = {item.entity: item.collects["kernel_log"] for item in line.items()}
    assert watched["node/n7/gpu/0000:1a:00.0"] == ("nvidia.xid",)
    assert "kernel.oom" in watched["node/n7"]


def test_a_log_that_cannot_be_opened_is_told_once(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporters.host.kernel_log.REOPEN_SECONDS", 0.01)
    with bench.running(bench.make()):
        until(lambda: "kernel log cannot be read" in caplog.text)
    told = [r for r in caplog.records if "cannot be read" in r.getMessage()]
    assert len(told) == 1
    assert "No such file or directory" in told[0].getMessage()


@pytest.mark.skipif(not os.access("/dev/kmsg", os.W_OK), reason="/dev/kmsg is not writable here")
def test_a_line_written_to_this_machines_kernel_log_is_read(bench: Bench, line: Line) -> None:
    bench.path = Path("/dev/kmsg")
    domain = f"{os.getpid() % 0xFFFF:04x}"
    with bench.running(bench.make(accept_user_lines=True)):
        until(bench.cursor.load)
        assert line.events() == []  # history is no news
        bench.path.write_text(f"<3>NVRM: Xid (PCI:{domain}:1a:00): 79, x\n")
        entity = f"node/n7/gpu/{domain}:1a:00.0"
        until(lambda: entity in {event.entity for event in line.events()})
    (event,) = [event for event in line.events() if event.entity == entity]
    assert event.code == "nvidia.xid:79"
