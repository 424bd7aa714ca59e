"""The GPU that is in a slot now: its readings, and what it tells of itself."""

from collections.abc import Container
from functools import partial

from exporters.collector import Measurement
from exporters.gpu.nvml import links, slices
from exporters.gpu.nvml.api import Device, LackingError
from exporters.gpu.nvml.fields import Field
from exporters.gpu.nvml.gpm import Pair
from exporters.gpu.nvml.reasons import Clocks
from exporters.gpu.nvml.recovery import Recovery
from exporters.gpu.nvml.signals import GPU
from exporters.gpu.nvml.teller import Teller
from exporters.gpu.nvml.values import Values, rows
from forewarn.records import Outcome

CUTS = "gpu_throttle_events_total"
SIGNALS = tuple(dict.fromkeys((*GPU, *links.SIGNALS, *slices.SIGNALS, CUTS)))
FULL_LIMIT = 0.99  # of the model's power limit; below it the device is capped on purpose
# Attribute of the inventory -> where NVML tells it.
FACTS = {
    "model": "nvmlDeviceGetName",
    "uuid": "nvmlDeviceGetUUID",
    "serial": "nvmlDeviceGetSerial",
    "part_number": "nvmlDeviceGetBoardPartNumber",
    "vbios": "nvmlDeviceGetVbiosVersion",
    "index": "nvmlDeviceGetIndex",
}


class Unit:
    """One physical GPU, as long as its driver is loaded."""

    def __init__(self, entity: str, device: Device, teller: Teller) -> None:
        self._entity, self._device, self._teller = entity, device, teller
        activity = Pair(device, partial(device.ask, "nvmlGpmSampleGet"))
        self._values = Values(rows(entity, GPU), device, activity)
        self._links = links.Links(entity, device, activity)
        self._slices = slices.Slices(entity, device)
        self._clocks, self._recovery = Clocks(), Recovery()
        self._limits: dict[str, float] = {}
        self.uuid = device.text("nvmlDeviceGetUUID")

    def swapped(self) -> bool:
        """Say whether another GPU is in the slot now. Raises NvmlError."""
        return self._device.text("nvmlDeviceGetUUID") != self.uuid

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read what is due and tell what happened. Raises NvmlError."""
        found = self._values.read(due)
        self._tell({m.signal: m.value for m in found if m.outcome is Outcome.OK})
        if "scale_up_links_up" in due:
            found += self._links.read(due)
        found += self._slices.read(due)
        if CUTS in due:
            found.append(Measurement(CUTS, self._entity, float(self._clocks.cuts)))
            self._introduce()
        return found

    def _tell(self, values: dict[str, float]) -> None:
        self._limits.update({s: v for s, v in values.items() if s.startswith("gpu_power_limit_")})
        if "gpu_clock_event_reasons" in values:
            mask = int(values["gpu_clock_event_reasons"])
            self._teller.events(self._entity, self._clocks.see(mask, self._capped()))
        if "gpu_health_status" in values:
            answer = self._device.fields([(Field.GET_GPU_RECOVERY_ACTION, 0)])[0]
            if answer.outcome is Outcome.OK:
                self._teller.events(self._entity, self._recovery.see(int(answer.value)))

    def _capped(self) -> bool:
        full = self._limits.get("gpu_power_limit_default_watts", 0.0)
        return self._limits.get("gpu_power_limit_watts", full) < FULL_LIMIT * full

    def _introduce(self) -> None:
        """Tell what the device is, what its slices are, and who uses them."""
        facts = {key: self._device.text(function) for key, function in FACTS.items()}
        facts |= {"driver": self._device.nvml.driver(), "vendor": "nvidia"}
        facts["pci"] = self._entity.rpartition("/")[2]
        self._teller.facts(self._entity, {key: value for key, value in facts.items() if value})
        for entity, own in self._slices.facts().items():
            self._teller.facts(entity, own)
        self._teller.users(self._entity, self._users())

    def _users(self) -> dict[str, set[int]]:
        """Return the processes on the GPU or on slices of it, by entity."""
        try:
            processes = self._device.ask("nvmlDeviceGetComputeRunningProcesses")
        except LackingError:
            processes = []
        found: dict[str, set[int]] = {}
        for own in processes:
            at = slices.entity(self._entity, own.gpuInstanceId, own.computeInstanceId)
            found.setdefault(at, set()).add(own.pid)
        return found
