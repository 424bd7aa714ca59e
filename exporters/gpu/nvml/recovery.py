"""The recovery that the driver asks for: an event when it changes."""

from exporters.gpu.nvml.reasons import Happening
from forewarn.records import Severity

# nvml.h, nvmlDeviceGpuRecoveryAction_t: what NVML says -> our code, and how grave it is.
ACTIONS: dict[int, tuple[str, Severity]] = {
    0: ("none", "info"),
    1: ("reset", "major"),
    2: ("reboot", "critical"),
    3: ("drain_p2p", "major"),
    4: ("drain_and_reset", "major"),
    5: ("recover_imex", "major"),
    6: ("bus_reset", "critical"),
    7: ("reboot", "critical"),
}


class Recovery:
    """Follows the action of one GPU; one that is fine from the start says nothing."""

    def __init__(self) -> None:
        self._last = "none"

    def see(self, action: int) -> list[Happening]:
        """Return the event that this reading makes."""
        name, severity = ACTIONS.get(action, (f"unknown_{action}", "major"))
        if name == self._last:
            return []
        text = f"the driver asks for recovery action {name}, before it was {self._last}"
        self._last = name
        return [Happening(f"gpu.recovery_action:{name}", severity, text)]
