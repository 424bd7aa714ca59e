"""What a network driver tells beyond sysfs, asked by the SIOCETHTOOL ioctl; no binary is needed.

Source of every number here: include/uapi/linux/ethtool.h and sockios.h.
"""

import array
import fcntl
import re
import socket
import struct
from collections.abc import Sequence
from typing import Final

import msgspec

SIOCETHTOOL = 0x8946
GSTRINGS, GSTATS, GSSET_INFO = 0x1B, 0x1D, 0x37
GMODULEINFO, GMODULEEEPROM, GLINKSETTINGS = 0x42, 0x43, 0x4C
SS_STATS = 1
STRING_BYTES = 32
MAX_STATS = 65_536
MODULE_BYTES = 1024
LINK_BYTES = 48  # struct ethtool_link_settings without its masks


class Names:
    """The names of a driver's statistics; which of them fit a pattern is found out once."""

    def __init__(self, names: Sequence[str]) -> None:
        self.all = tuple(names)
        self._places: dict[str, tuple[int, ...]] = {}

    def places(self, pattern: str) -> tuple[int, ...]:
        """Return where the names stand that fit."""
        held = self._places.get(pattern)
        if held is None:
            fits = re.compile(pattern).fullmatch
            held = tuple(place for place, name in enumerate(self.all) if fits(name))
            self._places[pattern] = held
        return held


class Statistics(msgspec.Struct, frozen=True):
    """A driver's statistics at one reading, parallel to their names."""

    names: Names
    values: Sequence[int]

    def total(self, pattern: str) -> float | None:
        """Return the sum of those that fit; None where none does."""
        places = self.names.places(pattern)
        return float(sum(self.values[place] for place in places)) if places else None


class Ethtool:
    """Asks the drivers; for one thread. All methods raise OSError as the driver answers."""

    def __init__(self) -> None:
        self._names: dict[str, Names] = {}

    def statistics(self, interface: str) -> Statistics:
        """Return the driver's own counters by its own names (`ethtool -S`)."""
        count = self._count(interface)
        names = self._names.get(interface)
        if names is None or len(names.all) != count:
            names = self._names[interface] = Names(self._read_names(interface, count))
        data = _ask(interface, struct.pack("=II", GSTATS, count), 8 * count)
        return Statistics(names, struct.unpack_from(f"={count}Q", data, 8))

    def _count(self, interface: str) -> int:
        head = struct.pack("=IIQ", GSSET_INFO, 0, 1 << SS_STATS)
        _, _, mask, count = struct.unpack("=IIQI", _ask(interface, head, 4))
        return min(count, MAX_STATS) if mask else 0

    def _read_names(self, interface: str, count: int) -> list[str]:
        head = struct.pack("=III", GSTRINGS, SS_STATS, count)
        data = _ask(interface, head, STRING_BYTES * count)[len(head) :]
        raw = (data[at : at + STRING_BYTES] for at in range(0, len(data), STRING_BYTES))
        return [name.split(b"\0", 1)[0].decode("ascii", "replace").strip() for name in raw]

    def speeds(self, interface: str) -> list[int]:
        """Return the speeds that port and profile allow, in Mb/s: those it advertises.

        Where nothing is advertised (no negotiation), those it supports; none for virtual links.
        """
        head = struct.pack(f"=I{LINK_BYTES - 4}x", GLINKSETTINGS)
        # The first answer says how long the masks are, as a negative number of 32-bit words.
        words = -struct.unpack_from("=b", _ask(interface, head, 0), 18)[0]
        if words <= 0:
            return []
        head = head[:18] + struct.pack("=b", words) + head[19:]
        data = _ask(interface, head, 12 * words)
        masks = struct.unpack_from(f"={3 * words}I", data, LINK_BYTES)
        supported, advertised = masks[:words], masks[words : 2 * words]
        return _speeds(advertised) or _speeds(supported)

    def module(self, interface: str) -> tuple[int, bytes]:
        """Return kind and memory of the optical module (`ethtool -m`)."""
        head = struct.pack("=I", GMODULEINFO)
        _, kind, length = struct.unpack_from("=III", _ask(interface, head, 40))
        length = min(length, MODULE_BYTES)
        head = struct.pack("=IIII", GMODULEEEPROM, 0, 0, length)
        return kind, _ask(interface, head, length)[len(head) :]


def _ask(interface: str, head: bytes, more: int) -> bytes:
    """Send one command and return what the kernel wrote over it."""
    buffer = array.array("B", head + bytes(more))
    address, _ = buffer.buffer_info()
    request = struct.pack("16sP8x", interface.encode()[:15], address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, SIOCETHTOOL, request)
    return buffer.tobytes()


# Link mode bits -> Mb/s; bits that stand for pause, FEC or the kind of port are no speed.
_MODES: Final[dict[int, Sequence[int]]] = {
    10: (0, 1, 92, 99, 100, 101, 102),
    100: (2, 3, 67, 90, 91),
    1_000: (4, 5, 17, 41, 68),
    2_500: (15, 47),
    5_000: (48,),
    10_000: (12, 18, 19, 20, 42, 43, 44, 45, 46),
    20_000: (21, 22),
    25_000: (31, 32, 33),
    40_000: (23, 24, 25, 26),
    50_000: (34, 35, 40, 52, 53, 54, 55, 56),
    56_000: (27, 28, 29, 30),
    100_000: (36, 37, 38, 39, *range(57, 62), *range(75, 80)),
    200_000: (*range(62, 67), *range(80, 85), *range(103, 109)),
    400_000: (*range(69, 74), *range(85, 90), *range(109, 115)),
    800_000: (*range(93, 99), *range(115, 121)),
    1_600_000: tuple(range(121, 125)),
}


def _speeds(words: Sequence[int]) -> list[int]:
    mask = sum(word << 32 * place for place, word in enumerate(words))
    return [speed for speed, bits in _MODES.items() if any(mask >> bit & 1 for bit in bits)]
