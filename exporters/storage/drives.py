"""Drives: operations, bytes, busy time and mean latencies from /proc/diskstats."""

import re
from collections.abc import Container

import msgspec

from exporters.collector import CollectorError, Host, Measurement, not_due
from forewarn import entity as entities

SECTOR_BYTES = 512  # of diskstats, whatever the drive's own (Documentation/admin-guide/iostats.rst)
# Memory and loop devices are no drives; partitions are left out by looking at /sys/block.
NO_DRIVE = re.compile(r"(loop|ram|zram|fd|sr|nbd)\d+")


class Drive(msgspec.Struct, frozen=True):
    """One line of diskstats since boot; times in milliseconds as the kernel gives them."""

    name: str
    reads: int
    read_sectors: int
    read_ms: int
    writes: int
    write_sectors: int
    write_ms: int
    busy_ms: int
    weighted_ms: int


def parse(text: str) -> list[Drive]:
    """Read /proc/diskstats. Raises CollectorError naming the line."""
    return [_drive(line) for line in text.splitlines() if line.strip()]


def _drive(line: str) -> Drive:
    words = line.split()
    if len(words) < 14:
        raise CollectorError(f"diskstats: expected 14 fields or more, got {line!r}")
    n = [int(word) for word in words[3:14]]
    return Drive(words[2], n[0], n[2], n[3], n[4], n[6], n[7], n[9], n[10])


def totals(drive: Drive) -> dict[str, float]:
    """Return the counters of one drive, in the catalogue's units."""
    return {
        "disk_read_operations_total": float(drive.reads),
        "disk_write_operations_total": float(drive.writes),
        "disk_read_bytes_total": float(drive.read_sectors * SECTOR_BYTES),
        "disk_write_bytes_total": float(drive.write_sectors * SECTOR_BYTES),
        "disk_io_seconds_total": drive.busy_ms / 1e3,
        "disk_weighted_io_seconds_total": drive.weighted_ms / 1e3,
    }


def latencies(before: Drive | None, now: Drive) -> dict[str, float | None]:
    """Return the mean seconds of a read and of a write between two readings.

    None where no operation finished in between, or the counters began anew.
    """
    found: dict[str, float | None] = dict.fromkeys(LATENCIES)
    if before is None:
        return found
    pairs = (
        ("disk_read_latency_seconds", now.read_ms - before.read_ms, now.reads - before.reads),
        ("disk_write_latency_seconds", now.write_ms - before.write_ms, now.writes - before.writes),
    )
    for signal, milliseconds, operations in pairs:
        if operations > 0 and milliseconds >= 0:
            found[signal] = milliseconds / operations / 1e3
    return found


LATENCIES = ("disk_read_latency_seconds", "disk_write_latency_seconds")
TOTALS = tuple(totals(Drive("", *[0] * 8)))


class Drives:
    """Reads /proc/diskstats; whole drives only, as /sys/block lists them."""

    name = "drives"
    signals = (*TOTALS, *LATENCIES)
    deadline_seconds = 2.0

    def __init__(self, host: Host) -> None:
        self._host = host
        self._before: dict[str, Drive] = {}

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read all drives; the first reading of a drive gives no latency."""
        text = (self._host.proc / "diskstats").read_text(encoding="ascii")
        whole = {path.name for path in (self._host.sys / "block").iterdir()}
        drives = [d for d in parse(text) if d.name in whole and not NO_DRIVE.fullmatch(d.name)]
        found = [m for drive in drives for m in self._one(drive) if m.signal in due]
        self._before = {drive.name: drive for drive in drives}
        return found

    def _one(self, drive: Drive) -> list[Measurement]:
        entity = f"{self._host.entity}/disk/{entities.name(drive.name)}"
        means = latencies(self._before.get(drive.name), drive)
        return [
            *(Measurement(signal, entity, value) for signal, value in totals(drive).items()),
            *(
                not_due(signal, entity) if value is None else Measurement(signal, entity, value)
                for signal, value in means.items()
            ),
        ]
