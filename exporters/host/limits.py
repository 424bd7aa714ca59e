"""What the kernel counts for the node: memory to be had, file descriptors, hung tasks."""

from collections.abc import Callable, Container
from pathlib import Path

from exporters.collector import CollectorError, Host, Measurement, unsupported


def memory_available(text: str) -> float:
    """Return MemAvailable of /proc/meminfo, in bytes (the file counts KiB).

    Raises CollectorError.
    """
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024.0
    raise CollectorError("meminfo: no MemAvailable")


def file_descriptors_used(text: str) -> float:
    """Return the used share of the limit, from /proc/sys/fs/file-nr (allocated, unused, limit).

    Raises CollectorError.
    """
    words = text.split()
    if len(words) != 3 or int(words[2]) <= 0:
        raise CollectorError(f"file-nr: expected three counts, got {text!r}")
    return (int(words[0]) - int(words[1])) / int(words[2])


def count(text: str) -> float:
    """Return the one number of a file."""
    return float(int(text))


# What is read where, and how.
ROWS: tuple[tuple[str, str, Callable[[str], float]], ...] = (
    ("node_memory_available_bytes", "meminfo", memory_available),
    ("node_file_descriptors_used_ratio", "sys/fs/file-nr", file_descriptors_used),
    ("node_hung_tasks_total", "sys/kernel/hung_task_detect_count", count),
)


class Limits:
    """Reads single files of /proc; a file that is not there is not supported by the kernel."""

    name = "limits"
    signals = tuple(row[0] for row in ROWS)
    deadline_seconds = 1.0

    def __init__(self, host: Host) -> None:
        self._entity, self._proc = host.entity, host.proc

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the files of the signals that are due."""
        return [
            self._one(signal, self._proc / path, parse)
            for signal, path, parse in ROWS
            if signal in due
        ]

    def _one(self, signal: str, path: Path, parse: Callable[[str], float]) -> Measurement:
        try:
            return Measurement(signal, self._entity, parse(path.read_text(encoding="ascii")))
        except FileNotFoundError:
            return unsupported(signal, self._entity)
