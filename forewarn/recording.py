"""Recordings: what a consumer of the bus saw, in its order, in a file that replays the same.

A recording is a row of zstd frames (`zstd -d` reads it), each with its own checksum and each of
whole entries: `Recorded` messages of wire.proto behind their lengths. The first and the last entry
are marks; a recording without the last one was cut.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import zstandard

from forewarn import wire
from forewarn.bus import Consumer, Message
from forewarn.errors import WireError
from forewarn.records import Mark

logger = logging.getLogger(__name__)
FRAME_BYTES = 2**20  # before compression; reader and writer hold one frame
FRAME_SECONDS = 1.0  # a recorder that is killed loses at most this
MAX_FRAME_BYTES = 64 * 2**20  # one message beyond FRAME_BYTES fits; damage cannot ask for more
_CHUNK_BYTES = 2**18


class Writer:
    """Writes a recording; as a context manager it closes the file with its end mark."""

    def __init__(self, path: Path, cluster: str, clock: Callable[[], int] = time.time_ns) -> None:
        self._cluster, self._clock = cluster, clock
        self._compressor = zstandard.ZstdCompressor(write_checksum=True)
        self._entries: list[Message | Mark] = [Mark(cluster, clock())]
        self._bytes = 0
        self.messages = 0
        self._file: BinaryIO = path.open("wb")
        self.flush()

    def write(self, message: Message) -> None:
        """Add one message; it is in the file once its frame is full, flushed or closed."""
        self._entries.append(message)
        self._bytes += len(message.value) + len(message.key)
        self.messages += 1
        if self._bytes >= FRAME_BYTES:
            self.flush()

    def flush(self) -> None:
        """Close the frame and hand it to the operating system."""
        if self._entries:
            self._file.write(self._compressor.compress(wire.encode_recorded(self._entries)))
            self._file.flush()
        self._entries, self._bytes = [], 0

    def close(self) -> None:
        """Write the end mark and close the file."""
        self._entries.append(Mark(self._cluster, self._clock(), True, self.messages))
        self.flush()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


def record(consumer: Consumer, path: Path, cluster: str, stop: threading.Event) -> int:
    """Record what a consumer sees until `stop`; return the number of messages.

    Raises:
        BusError: if the bus refuses us; the recording is closed properly before.
        OSError: if the file cannot be written.

    """
    with Writer(path, cluster) as writer:
        due = time.monotonic() + FRAME_SECONDS
        while not stop.is_set():
            for message in consumer.poll(0.2):
                writer.write(message)
            if time.monotonic() >= due:
                writer.flush()
                due = time.monotonic() + FRAME_SECONDS
    return writer.messages


def head(path: Path) -> Mark:
    """Return the first mark: which cluster, since when. Raises WireError, OSError."""
    return _first(path, next(_entries(path), None))


def read(path: Path) -> Iterator[Message]:
    """Yield the messages of a recording in their order.

    Raises:
        WireError: if the file is none, is damaged or cut: after everything before that place was
            yielded, naming file and byte.
        OSError: if it cannot be opened.

    """
    entries = _entries(path)
    _first(path, next(entries, None))
    count, end = 0, None
    for entry in entries:
        if isinstance(entry, Mark):
            end = entry
            continue
        yield entry
        count += 1
    if end is None or end.messages != count:
        size = path.stat().st_size
        text = f"{path}: has no end mark, cut at byte {size}; the {count} messages before were read"
        raise WireError("truncated", text)


def _first(path: Path, entry: Message | Mark | None) -> Mark:
    if not isinstance(entry, Mark):
        raise WireError("truncated", f"{path}: is no recording: it has no first mark")
    return entry


def _entries(path: Path) -> Iterator[Message | Mark]:
    with path.open("rb") as file:
        for begin, frame in _frames(path, file):
            try:
                entries = wire.decode_recorded(frame)
            except WireError as error:
                raise _damage(path, begin, error, error.reason) from error
            yield from entries


def _frames(path: Path, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield where each zstd frame begins and what it holds, its checksum tested."""
    begin, rest = 0, file.read(_CHUNK_BYTES)
    while rest:
        frame, used, rest = _frame(path, file, begin, rest)
        yield begin, frame
        begin += used
        rest = rest or file.read(_CHUNK_BYTES)


def _frame(path: Path, file: BinaryIO, begin: int, data: bytes) -> tuple[bytes, int, bytes]:
    """Return a frame's content, its length in the file, and what was read beyond it."""
    unpacking = zstandard.ZstdDecompressor(max_window_size=MAX_FRAME_BYTES).decompressobj()
    parts, size, used = [], 0, 0
    while data and not unpacking.eof:
        try:
            parts.append(unpacking.decompress(data))
        except zstandard.ZstdError as error:
            raise _damage(path, begin, error) from error
        used += len(data)
        size += len(parts[-1])
        if size > MAX_FRAME_BYTES:
            raise _damage(path, begin, f"a frame of more than {MAX_FRAME_BYTES} bytes")
        data = b"" if unpacking.eof else file.read(_CHUNK_BYTES)
    if not unpacking.eof:
        raise _damage(path, begin, "the file ends inside a frame")
    return b"".join(parts), used - len(unpacking.unused_data), unpacking.unused_data


def _damage(path: Path, begin: int, problem: object, reason: str = "truncated") -> WireError:
    text = f"{path}: damaged in the frame at byte {begin}: {problem}; everything before was read"
    return WireError(reason, text)
