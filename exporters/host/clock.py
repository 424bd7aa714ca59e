"""The node's clock against its time source, as the kernel holds it (adjtimex)."""

import ctypes
import os
from collections.abc import Callable, Container

import msgspec

from exporters.collector import Host, Measurement, unsupported

# From <sys/timex.h>.
_STA_UNSYNC = 0x0040
_STA_NANO = 0x2000
_TIME_ERROR = 5


class _Timex(ctypes.Structure):
    """`struct timex` of Linux on 64 bits; only the fields up to `tick` are read."""

    _fields_ = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("constant", ctypes.c_long),
        ("precision", ctypes.c_long),
        ("tolerance", ctypes.c_long),
        ("time_sec", ctypes.c_long),
        ("time_usec", ctypes.c_long),
        ("tick", ctypes.c_long),
        ("rest", ctypes.c_byte * 128),
    ]


class ClockState(msgspec.Struct, frozen=True):
    """What adjtimex says: `state` is its return value, the rest are fields of its struct."""

    state: int
    status: int
    offset: int
    maxerror: int


def adjtimex() -> ClockState:
    """Ask the kernel, changing nothing (modes = 0). Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    timex = _Timex()
    state = libc.adjtimex(ctypes.byref(timex))
    if state < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"adjtimex: {os.strerror(number)}")
    return ClockState(state, timex.status, timex.offset, timex.maxerror)


class Clock:
    """Offset, largest error and whether the clock follows a source (adjtimex(2)).

    The offset is the part the kernel still has to slew; chrony slews by itself and leaves 0 here.
    Without synchronisation nobody measured an offset: it is unsupported, not 0.
    """

    name = "clock"
    signals = ("node_clock_offset_seconds", "node_clock_error_seconds", "node_clock_synchronized")
    deadline_seconds = 1.0

    def __init__(self, host: Host, ask: Callable[[], ClockState] = adjtimex) -> None:
        self._entity, self._ask = host.entity, ask

    def read(self, due: Container[str]) -> list[Measurement]:
        """Ask once."""
        clock = self._ask()
        synchronized = clock.state != _TIME_ERROR and not clock.status & _STA_UNSYNC
        unit = 1e9 if clock.status & _STA_NANO else 1e6
        offset, error, synced = self.signals
        found = [
            Measurement(offset, self._entity, clock.offset / unit)
            if synchronized
            else unsupported(offset, self._entity),
            Measurement(error, self._entity, clock.maxerror / 1e6),
            Measurement(synced, self._entity, float(synchronized)),
        ]
        return [measurement for measurement in found if measurement.signal in due]
