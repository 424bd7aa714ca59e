"""The one door to NVML: nvidia-ml-py loaded on demand, its errors and values translated."""

import ctypes
from collections.abc import Sequence
from typing import Any

import msgspec

from exporters.pci import slot
from forewarn.errors import ForewarnError
from forewarn.records import Outcome

SONAME = "libnvidia-ml.so.1"


class NvmlError(ForewarnError):
    """NVML did not answer; the message says which call and why."""


class AbsentError(NvmlError):
    """There is no NVML library on this machine."""


class DriverError(NvmlError):
    """The library is there, but its driver is not (any more)."""


class LostError(NvmlError):
    """The device has fallen off the bus or waits for a reset."""


class LackingError(NvmlError):
    """Device or driver cannot give this."""


class SilentError(NvmlError):
    """Nothing happened within the time waited."""


# nvmlReturn_t -> what it means here; every other code is a plain NvmlError: not read this time.
MEANINGS: dict[int, type[NvmlError]] = {
    1: DriverError,  # UNINITIALIZED
    2: LackingError,  # INVALID_ARGUMENT: a field, link or location this driver does not know
    3: LackingError,  # NOT_SUPPORTED
    6: LackingError,  # NOT_FOUND
    9: DriverError,  # DRIVER_NOT_LOADED
    10: SilentError,  # TIMEOUT
    13: LackingError,  # FUNCTION_NOT_FOUND
    15: LostError,  # GPU_IS_LOST
    16: LostError,  # RESET_REQUIRED
    18: DriverError,  # LIB_RM_VERSION_MISMATCH
    22: LackingError,  # VGPU_ECC_NOT_SUPPORTED
    25: LackingError,  # ARGUMENT_VERSION_MISMATCH
    26: LackingError,  # DEPRECATED
    28: LostError,  # GPU_NOT_FOUND
}
# Member of nvmlValue_t by nvmlValueType_t.
_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
_NOT_AVAILABLE = {"uiVal": 2**32 - 1, "ulVal": 2**64 - 1, "ullVal": 2**64 - 1}
# Functions that fill a versioned struct which the caller makes.
_STRUCTS = {
    "nvmlDeviceGetGpuFabricInfoV": "c_nvmlGpuFabricInfoV_t",
    "nvmlDeviceGetSramEccErrorStatus": "c_nvmlEccSramErrorStatus_v1_t",
}


class Answer(msgspec.Struct, frozen=True):
    """One value, or why there is none."""

    value: float
    outcome: Outcome = Outcome.OK


UNSUPPORTED = Answer(float("nan"), Outcome.UNSUPPORTED)
FAILED = Answer(float("nan"), Outcome.FAILED)
NOT_YET = Answer(float("nan"), Outcome.NOT_DUE)


class Nvml:
    """The library; its calls may come from any thread."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml

    def ask(self, name: str, *args: object) -> Any:
        """Call a function of nvidia-ml-py. Raises NvmlError, of the kind in `MEANINGS`."""
        function = self._find(name)
        try:
            return function(*args)
        except self._nvml.NVMLError as error:
            meaning = MEANINGS.get(error.value, NvmlError)
            raise meaning(f"{name}: {error}") from error

    def make(self, struct: str) -> Any:
        """Return a fresh struct of nvidia-ml-py. Raises LackingError."""
        return self._find(struct)()

    def _find(self, name: str) -> Any:
        """Return what an older nvidia-ml-py may lack. Raises LackingError."""
        try:
            return getattr(self._nvml, name)
        except AttributeError as error:
            raise LackingError(f"{name}: nvidia-ml-py has no such name") from error

    def driver(self) -> str:
        """Return the driver's version. Raises NvmlError."""
        found = self.ask("nvmlSystemGetDriverVersion")
        return found.decode(errors="replace") if isinstance(found, bytes) else str(found)

    def device(self, address: str) -> "Device":
        """Return the device at a PCI address. Raises NvmlError."""
        return Device(self, self.ask("nvmlDeviceGetHandleByPciBusId", address))

    def slots(self) -> set[str]:
        """Return the PCI addresses of all devices that can be opened. Raises NvmlError."""
        found = set()
        for index in range(self.ask("nvmlDeviceGetCount")):
            try:
                found.add(Device(self, self.ask("nvmlDeviceGetHandleByIndex", index)).slot())
            except (LostError, LackingError):
                continue
        return found


class Device:
    """One GPU, or one MIG slice of it."""

    def __init__(self, nvml: Nvml, handle: Any) -> None:
        self.nvml, self.handle = nvml, handle

    def ask(self, name: str, *args: object) -> Any:
        """Call a function on this device; one that fills a struct returns it. Raises NvmlError."""
        if name in _STRUCTS:
            struct = self.nvml.make(_STRUCTS[name])
            self.nvml.ask(name, self.handle, ctypes.byref(struct))
            return struct
        return self.nvml.ask(name, self.handle, *args)

    def key(self) -> int:
        """Return what tells this handle from others of its session."""
        return ctypes.cast(self.handle, ctypes.c_void_p).value or 0

    def slot(self) -> str:
        """Return the PCI address. Raises NvmlError."""
        bus_id = self.ask("nvmlDeviceGetPciInfo_v3").busId
        return slot(bus_id.decode() if isinstance(bus_id, bytes) else bus_id)

    def text(self, name: str) -> str:
        """Return a text, empty where there is none. Raises LostError, DriverError, NvmlError."""
        try:
            found = self.ask(name)
        except LackingError:
            return ""
        return found.decode(errors="replace") if isinstance(found, bytes) else str(found)

    def fields(self, pairs: Sequence[tuple[int, int]]) -> list[Answer]:
        """Read all (field, scope) in one call. Raises NvmlError, never LackingError."""
        if not pairs:
            return []
        try:
            return [_answer(value) for value in self.ask("nvmlDeviceGetFieldValues", list(pairs))]
        except LackingError:
            return [UNSUPPORTED for _ in pairs]


def _answer(value: Any) -> Answer:
    """Return the answer in one nvmlFieldValue_t. Raises LostError, DriverError."""
    if value.nvmlReturn:
        meaning = MEANINGS.get(value.nvmlReturn, NvmlError)
        if meaning in {LostError, DriverError}:
            raise meaning(f"field {value.fieldId}: NVML error {value.nvmlReturn}")
        return UNSUPPORTED if meaning is LackingError else FAILED
    member = _MEMBERS[value.valueType]
    number = getattr(value.value, member)
    return UNSUPPORTED if number == _NOT_AVAILABLE.get(member) else Answer(float(number))


def load() -> Nvml:
    """Load library and binding; the binding is imported only where the library is.

    Raises:
        AbsentError: if the library cannot be loaded.

    """
    try:
        ctypes.CDLL(SONAME)
    except OSError as error:
        raise AbsentError(f"no NVIDIA driver library: {error}") from error
    import pynvml  # noqa: PLC0415

    return Nvml(pynvml)
