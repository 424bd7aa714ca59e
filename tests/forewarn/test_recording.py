import threading
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest
import zstandard

from forewarn import recording, wire
from forewarn.bus import Consumer, Message
from forewarn.errors import WireError
from forewarn.memory import MemoryBus
from forewarn.records import Mark


def messages(count: int, size: int = 100) -> list[Message]:
    return [
        Message("frames", f"n{n % 3}", b"%d" % n * size, n % 3, n, 10**18 + n, (("h", b"\xff"),))
        for n in range(count)
    ]


def write(path: Path, entries: list[Message], flush_each: int = 10) -> None:
    with recording.Writer(path, "c1", clock=lambda: 123) as writer:
        for number, message in enumerate(entries):
            writer.write(message)
            if number % flush_each == flush_each - 1:
                writer.flush()


def read_until_error(path: Path) -> tuple[list[Message], str]:
    found: list[Message] = []
    with pytest.raises(WireError) as caught:
        found.extend(recording.read(path))
    return found, str(caught.value)


def test_read_gives_what_was_written_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    write(path, messages(1000))
    assert list(recording.read(path)) == messages(1000)
    assert recording.head(path) == Mark("c1", 123)


def test_empty_recording_reads_as_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    write(path, [])
    assert list(recording.read(path)) == []


def test_large_messages_make_frames_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    large = messages(5, size=recording.FRAME_BYTES)
    write(path, large, flush_each=1000)
    assert list(recording.read(path)) == large


def test_recording_is_plain_zstd(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    write(path, messages(25))
    with path.open("rb") as file:
        data = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
    first, *found, last = wire.decode_recorded(data)
    assert found == messages(25)
    assert (first, last) == (Mark("c1", 123), Mark("c1", 123, True, 25))


def test_cut_recording_gives_everything_before_then_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    write(path, messages(100))
    whole = path.read_bytes()
    lengths = set()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        found, error = read_until_error(path)
        assert found == messages(100)[: len(found)]
        assert str(path) in error
        assert size < 30 or "byte" in error
        lengths.add(len(found))
    assert lengths == set(range(0, 101, 10))


def test_damaged_recording_gives_everything_before_then_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    write(path, messages(100))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    found, error = read_until_error(path)
    assert found == messages(100)[: len(found)]
    assert 10 <= len(found) < 100
    assert "damaged in the frame at byte" in error


def test_recording_of_a_killed_recorder_lacks_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    writer = recording.Writer(path, "c1")
    for message in messages(20):
        writer.write(message)
    writer.flush()
    found, error = read_until_error(path)
    assert found == messages(20)
    assert "has no end mark" in error
    writer.close()
    assert list(recording.read(path)) == messages(20)


@pytest.mark.parametrize("content", [b"", b"no recording at all", zstandard.compress(b"x")])
def test_other_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.fwrec"
    path.write_bytes(content)
    found, error = read_until_error(path)
    assert not found
    assert str(path) in error


def test_newer_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.fwrec"
    newer = bytearray(wire.encode_recorded([Mark("c1", 1)]))
    newer[2] = wire.VERSION + 1
    path.write_bytes(zstandard.compress(bytes(newer)))
    with pytest.raises(WireError, match="newer"):
        recording.head(path)


class Stopping(Consumer):
    """A consumer that sets `stop` once its messages are polled."""

    def __init__(self, batches: list[list[Message]], stop: threading.Event) -> None:
        self._batches: Iterator[list[Message]] = chain(batches, repeat([]))
        self._left, self._stop = len(batches), stop

    def poll(self, timeout_seconds: float, max_messages: int = 1000) -> list[Message]:
        self._left -= 1
        if self._left < 0:
            self._stop.set()
        return next(self._batches)


def test_record_keeps_what_the_consumer_saw(tmp_path: Path) -> None:
    path, stop = tmp_path / "a.fwrec", threading.Event()
    batches = [messages(10)[:4], [], messages(10)[4:]]
    assert recording.record(Stopping(batches, stop), path, "c1", stop) == 10
    assert list(recording.read(path)) == messages(10)


def test_record_from_the_embedded_bus_keeps_append_times(tmp_path: Path) -> None:
    bus = MemoryBus(clock=iter(range(1000, 2000)).__next__)
    consumer = bus.consumer(["events"], group=None)
    for number in range(3):
        bus.producer().publish("events", "n", b"%d" % number)
    with recording.Writer(tmp_path / "a.fwrec", "c1") as writer:
        for message in consumer.poll(0):
            writer.write(message)
    found = list(recording.read(tmp_path / "a.fwrec"))
    assert [message.append_time_unix_nano for message in found] == [1000, 1001, 1002]
