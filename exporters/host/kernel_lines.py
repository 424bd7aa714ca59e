"""Bytes of /dev/kmsg become lines (Documentation/ABI/testing/dev-kmsg)."""

import re

import msgspec

KERN = 0
# Of sequence and time: 142 years in microseconds, and in nanoseconds still within 64 bits.
_HIGHEST = 2**52
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
    if max(sequence, microseconds) > _HIGHEST:
        return None
    text = match[4].decode("utf-8", "replace")
    return KernelLine(priority >> 3, priority & 7, sequence, microseconds, text)
