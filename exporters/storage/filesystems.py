"""File systems: how full, out of inodes, read-only; a mount that hangs costs only itself."""

import os
import re
import threading
from collections.abc import Callable, Container
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError

import msgspec

from exporters.collector import Host, Measurement, failed, unsupported
from forewarn import entity as entities

# Local file systems that hold data. Memory and pseudo file systems are left out, and so are
# network mounts: the signals of this file are about local ones.
TYPES = frozenset("bcachefs btrfs ext2 ext3 ext4 f2fs jfs ntfs3 vfat xfs zfs".split())
PROBE_SECONDS = 2.0
_USED, _INODES = "node_filesystem_used_ratio", "node_filesystem_inodes_used_ratio"
_READ_ONLY = "node_filesystem_read_only"
_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(msgspec.Struct, frozen=True):
    """One line of /proc/mounts."""

    path: str
    type: str
    read_only: bool
    source: str = ""


class Space(msgspec.Struct, frozen=True):
    """What statvfs says, as shares; None where the file system has no such notion."""

    used: float | None
    inodes: float | None


def parse(text: str) -> list[Mount]:
    """Read /proc/mounts: local file systems, each path once (the last mount on it is seen).

    A part of a file system that is mounted again (bind mounts, /run/netns, containers) is none of
    its own: of each device the mount that was made first counts.
    """
    first: dict[str, Mount] = {}
    for mount in mounts(text):
        if mount.type in TYPES:
            first.setdefault(mount.source, mount)
    return list(first.values())


def mounts(text: str) -> list[Mount]:
    """Read /proc/mounts: all mounts that are seen, each path once."""
    found: dict[str, Mount] = {}
    for words in map(str.split, text.splitlines()):
        if len(words) >= 4:
            path = unescape(words[1])
            found.pop(path, None)
            found[path] = Mount(path, words[2], "ro" in words[3].split(","), words[0])
    return list(found.values())


def unescape(path: str) -> str:
    """Return a path of /proc/mounts as it is: white space stands there as octal numbers."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), path)


def space(path: str) -> Space:
    """Return the used shares, reckoned as df does: what only root may use counts as used.

    Raises OSError.
    """
    s = os.statvfs(path)
    used, usable = s.f_blocks - s.f_bfree, s.f_blocks - s.f_bfree + s.f_bavail
    inodes = (s.f_files - s.f_ffree) / s.f_files if s.f_files else None
    return Space(used / usable if usable else None, inodes)


class Filesystems:
    """Reads /proc/mounts and probes each mount in a thread of its own.

    A thread that hangs is left alone (nothing can end it) and never started twice for a mount.
    """

    name = "filesystems"
    signals = (_USED, _INODES, _READ_ONLY)
    deadline_seconds = 2 * PROBE_SECONDS

    def __init__(
        self,
        host: Host,
        probe: Callable[[str], Space] = space,
        probe_seconds: float = PROBE_SECONDS,
    ) -> None:
        self._host, self._probe, self._wait = host, probe, probe_seconds
        self._running: dict[str, Future[Space]] = {}

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read the flags of all mounts; probe for space when that is due."""
        local = parse((self._host.proc / "mounts").read_text(encoding="utf-8"))
        found: list[Measurement] = []
        if _READ_ONLY in due:
            found += [Measurement(_READ_ONLY, self._at(m), float(m.read_only)) for m in local]
        if _USED in due or _INODES in due:
            found += [m for m in self._spaces(local) if m.signal in due]
        return found

    def _at(self, mount: Mount) -> str:
        return f"{self._host.entity}/mount/{entities.name(mount.path)}"

    def _spaces(self, mounts: list[Mount]) -> list[Measurement]:
        """Start all probes, then wait for them together: hung mounts take one wait in all."""
        probes = [(mount, self._start(mount.path)) for mount in mounts]
        wait([probe for _, probe in probes], timeout=self._wait)
        return [m for mount, probe in probes for m in self._result(self._at(mount), probe)]

    def _start(self, path: str) -> "Future[Space]":
        running = self._running.get(path)
        if running is not None and not running.done():
            return running
        future: Future[Space] = Future()
        self._running[path] = future
        name = f"statvfs {path}"
        threading.Thread(target=self._run, args=(path, future), name=name, daemon=True).start()
        return future

    def _run(self, path: str, future: "Future[Space]") -> None:
        try:
            future.set_result(self._probe(path))
        except OSError as error:
            future.set_exception(error)

    def _result(self, entity: str, probe: "Future[Space]") -> list[Measurement]:
        try:
            result = probe.result(timeout=0)
        except (OSError, FutureTimeoutError):
            return [failed(_USED, entity), failed(_INODES, entity)]
        return [
            unsupported(signal, entity) if value is None else Measurement(signal, entity, value)
            for signal, value in ((_USED, result.used), (_INODES, result.inodes))
        ]
