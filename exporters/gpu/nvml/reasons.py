"""Why clocks are held down, bit by bit: which reasons are faults, and when each begins and ends."""

from typing import Literal

import msgspec

from forewarn.records import Severity

CLEAN_READINGS = 10  # a reason has ended when so many readings in a row were without it
LASTING_READINGS = 10  # the power cap counts once it has lasted as long

Nature = Literal["normal", "load", "warning", "fault"]


class Reason(msgspec.Struct, frozen=True):
    """One bit of nvmlDeviceGetCurrentClocksEventReasons."""

    bit: int
    name: str
    nature: Nature
    severity: Severity = "info"


# nvml.h, nvmlClocksEventReason*. A hardware slowdown always sets bit 0x8; where another bit says
# which, that one is told.
REASONS = (
    Reason(0x1, "idle", "normal"),
    Reason(0x2, "clocks_setting", "normal"),
    Reason(0x4, "sw_power_cap", "load", "minor"),
    Reason(0x8, "hw_slowdown", "fault", "major"),
    Reason(0x10, "sync_boost", "normal"),
    Reason(0x20, "sw_thermal", "warning", "minor"),
    Reason(0x40, "hw_thermal", "fault", "major"),
    Reason(0x80, "hw_power_brake", "fault", "major"),
    Reason(0x100, "display_clocks", "normal"),
)
HW_SLOWDOWN = 0x8
_TOLD_BY_ANOTHER = 0x40 | 0x80
_HARDWARE = HW_SLOWDOWN | _TOLD_BY_ANOTHER


class Happening(msgspec.Struct, frozen=True):
    """An event of a device: `code` is `namespace:code`."""

    code: str
    severity: Severity
    text: str


class Clocks:
    """Follows the mask of one GPU, reading by reading."""

    def __init__(self) -> None:
        self.cuts = 0  # times the hardware began to hold the clocks down
        self._cut = False
        self._clean: dict[str, int] = {}  # reasons that are on -> readings without them
        self._lasted = 0

    def see(self, mask: int, capped: bool) -> list[Happening]:
        """Return what begins or ends with this reading.

        `capped`: the power limit is below the model's own. At the model's limit the power cap is
        what a full load looks like, and no event.
        """
        cut = bool(mask & _HARDWARE)
        self.cuts += cut and not self._cut
        self._cut = cut
        self._lasted = self._lasted + 1 if mask & 0x4 and capped else 0
        found = (self._follow(reason, self._is_on(reason, mask), mask) for reason in REASONS)
        return [happening for happening in found if happening is not None]

    def _is_on(self, reason: Reason, mask: int) -> bool:
        if reason.nature == "normal":
            return False
        if reason.nature == "load":
            return self._lasted >= LASTING_READINGS
        hidden = reason.bit == HW_SLOWDOWN and mask & _TOLD_BY_ANOTHER
        return bool(mask & reason.bit) and not hidden

    def _follow(self, reason: Reason, on: bool, mask: int) -> Happening | None:
        known = reason.name in self._clean
        if on:
            self._clean[reason.name] = 0
            return None if known else _begun(reason, mask)
        if not known:
            return None
        self._clean[reason.name] += 1
        if self._clean[reason.name] < CLEAN_READINGS:
            return None
        del self._clean[reason.name]
        code = f"gpu.clock_event:{reason.name}_end"
        return Happening(code, "info", f"clocks no longer held down by {reason.name}")


def _begun(reason: Reason, mask: int) -> Happening:
    text = f"clocks held down by {reason.name}, reasons {mask:#x}"
    return Happening(f"gpu.clock_event:{reason.name}", reason.severity, text)
