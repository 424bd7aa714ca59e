"""Bytes of /dev/kmsg become lines (Documentation/ABI/testing/dev-kmsg)."""

import re

import msgspec

MAX_LINE_BYTES = 8192  # what the kernel hands out at most: CONSOLE_EXT_LOG_MAX
KERN = 0
_PREFIX = re.compile(rb"(\d{1,10}),(\d{1,20}),(\d{1,20}),[^;]*;(.*)", re.DOTALL)


class KernelLine(msgspec.Struct, frozen=True):
    """One record: who said it, its number and time since boot, and the text."""

    facility: int
    level: int
    sequence: int
    since_boot_microseconds: int
    text: str


def parse(line: bytes) -> KernelLine | None:
    """Read `priority,sequence,microseconds,flags[,…];text`; None if it is not of that form."""
    match = _PREFIX.fullmatch(line)
    if match is None:
        return None
    priority, sequence, microseconds = (int(match[index]) for index in (1, 2, 3))
    text = match[4].decode("utf-8", "replace")
    return KernelLine(priority >> 3, priority & 7, sequence, microseconds, text)


class Splitter:
    """Cuts a stream of bytes into lines; a line beyond the limit is passed over and counted."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> tuple[list[bytes], int]:
        """Return the lines completed by `data`, and how many too long ones ended or began here."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        too_long = 0
        if self._skipping and lines:
            lines = lines[1:]
            self._skipping = False
        too_long += sum(len(line) > self._limit for line in lines)
        if len(self._rest) > self._limit or (self._skipping and self._rest):
            too_long += not self._skipping
            self._skipping, self._rest = True, b""
        return [line for line in lines if len(line) <= self._limit], too_long
