"""Builds the stand-in library and turns its knobs: eight H100 that can be made ill."""

import ctypes
import mmap
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from exporters.gpu.nvml.fields import Field
from tests.exporters.fakes import until
from tests.nvml.state import ALL_LINKS, GPUS, NONE, SLICES, XIDS, Gpu, State

SOURCE = Path(__file__).with_name("standin.c")
LIBRARY = "libnvidia-ml.so.1"
LINKS = 18
SLOTS = tuple(f"0000:{0x1A + 0x10 * n:02x}:00.0" for n in range(GPUS))
DRIVER_NOT_LOADED, GPU_IS_LOST, UNKNOWN = 9, 15, 999
# Fields of a Hopper; all are 0 at first but those here.
FIELDS = {
    Field.ECC_CURRENT: 1, Field.MEMORY_TEMP: 55, Field.POWER_AVERAGE: 310_000,
    Field.POWER_DEFAULT_LIMIT: 700_000, Field.POWER_CURRENT_LIMIT: 700_000,
    Field.TOTAL_ENERGY_CONSUMPTION: 5_000_000, Field.NVLINK_LINK_COUNT: LINKS,
    Field.PERF_POLICY_POWER: 2_500_000_000, Field.NVSWITCH_CONNECTED_LINK_COUNT: LINKS,
    Field.NVLINK_GET_STATE: 1,
}  # fmt: skip
OF_LINKS = (
    Field.NVLINK_ERROR_DL_CRC, Field.NVLINK_ERROR_DL_REPLAY, Field.NVLINK_ERROR_DL_RECOVERY,
    Field.NVLINK_GET_STATE,
)  # fmt: skip
# What a Hopper does not have: the retired pages of before, the link counters of after.
LACKING = (
    Field.RETIRED_SBE, Field.RETIRED_DBE, Field.RETIRED_PENDING, Field.NVLINK_COUNT_RCV_ERRORS,
    Field.NVLINK_COUNT_LINK_RECOVERY_EVENTS, Field.NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS,
    Field.NVLINK_COUNT_EFFECTIVE_BER,
)  # fmt: skip


def build(folder: Path, new: bool = True) -> Path:
    """Compile the library into a folder; `new` with what old drivers lack. Skips without gcc."""
    if shutil.which("gcc") is None:
        assert os.environ.get("CI") != "true", "no gcc: the stand-in library cannot be built"
        pytest.skip("no gcc to build the stand-in library with")
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-Wl,-soname,{LIBRARY}"]
    flags += [f"-DSTATE_BYTES={ctypes.sizeof(State)}", *(["-DNEW"] if new else [])]
    path = folder / LIBRARY
    subprocess.run(["gcc", *flags, "-o", str(path), str(SOURCE)], check=True)
    return path


def sysfs(folder: Path, slots: tuple[str, ...] = SLOTS) -> Path:
    """Make a /sys with these accelerators; return its folder."""
    for slot in slots:
        own = folder / "bus/pci/devices" / slot
        own.mkdir(parents=True)
        (own / "vendor").write_text("0x10de\n", encoding="ascii")
        (own / "class").write_text("0x030200\n", encoding="ascii")
    return folder


class Standin:
    """The state file, mapped as the library maps it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(ctypes.sizeof(State)))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self.state = State.from_buffer(self._map)
        self.state.gpus = GPUS
        for number in range(GPUS):
            self._furnish(number)

    def gpu(self, number: int) -> Gpu:
        """Return one GPU's state."""
        found: Gpu = self.state.gpu[number]
        return found

    def _furnish(self, number: int) -> None:
        gpu = self.gpu(number)
        gpu.bus_id = f"0000{SLOTS[number].upper()}".encode()
        self.swap(number, f"GPU-{number:08d}-aaaa-bbbb-cccc-000000000000", f"165{number:010d}")
        gpu.model, gpu.vbios = b"NVIDIA H100 80GB HBM3", b"96.00.74.00.01"
        gpu.busy, gpu.memory_busy = 97, 40
        gpu.total, gpu.used, gpu.reserved = 80 << 30, 60 << 30, 1 << 30
        gpu.temperature, gpu.slowdown, gpu.margin = 55, 0, 32
        gpu.milliwatts, gpu.limit, gpu.default_limit = 310_000, 700_000, 700_000
        gpu.sm_megahertz, gpu.memory_megahertz = 1980, 2619
        gpu.generation = gpu.generation_max = 5
        gpu.width = gpu.width_max = 16
        gpu.fabric, gpu.gpm_supported = 3, 1
        gpu.gpm[2], gpu.gpm[5], gpu.gpm[20], gpu.gpm[61] = 90.0, 45.0, 3.0, 2000.0
        for link in range(LINKS):
            gpu.link_up[link] = 1
        self._fields(gpu)

    def _fields(self, gpu: Gpu) -> None:
        for field in set(Field) - set(LACKING) - set(OF_LINKS):
            gpu.known[0][field] = 1
            gpu.field[0][field] = FIELDS.get(field, 0)
        for field in OF_LINKS:
            for link in range(LINKS):
                gpu.known[link][field] = 1
                gpu.field[link][field] = FIELDS.get(field, 0)
        gpu.field[0][Field.TEMPERATURE_SLOWDOWN_TLIMIT] = 0

    def set(self, number: int, field: int, value: int, scope: int = 0) -> None:
        """Set a field value, which is then known."""
        gpu = self.gpu(number)
        gpu.known[scope][field] = 1
        gpu.field[scope][field] = value

    def forget(self, number: int, field: int) -> None:
        """Let a GPU lack a field, of all its links too."""
        for scope in range(ALL_LINKS + 1):
            self.gpu(number).known[scope][field] = 0

    def heat(self, number: int, celsius: int) -> None:
        """Set the temperature; the margin shrinks as it grows."""
        gpu = self.gpu(number)
        gpu.margin -= celsius - gpu.temperature
        gpu.temperature = celsius

    def throttle(self, number: int, reasons: int) -> None:
        """Set the clock-event reasons; a GPU held down by hardware is slow."""
        self.gpu(number).reasons = reasons
        self.gpu(number).sm_megahertz = 600 if reasons & 0xC8 else 1980

    def watched(self, times: int = 1) -> None:
        """Wait until all GPUs have been registered for events so many times."""
        until(lambda: self.state.registered >= times * GPUS)

    def xid(self, number: int, code: int, instance: int = NONE) -> None:
        """Post an Xid."""
        slot = self.state.xid[self.state.xids % XIDS]
        slot.gpu, slot.code, slot.instance = number, code, instance
        self.state.xids += 1

    def lose(self, number: int, error: int = GPU_IS_LOST) -> None:
        """Let every call on a GPU fail; 0 heals it."""
        self.gpu(number).error = error

    def swap(self, number: int, uuid: str, serial: str) -> None:
        """Put another unit into the slot."""
        self.gpu(number).uuid, self.gpu(number).serial = uuid.encode(), serial.encode()

    def remove(self, number: int, *functions: str) -> None:
        """Let a GPU not support functions."""
        self.gpu(number).missing = f" {' '.join(functions)} ".encode()

    def block(self, number: int, blocked: bool = True) -> None:
        """Hold up every call on a GPU, until it is released."""
        self.gpu(number).blocked = blocked

    def use(self, number: int, pids: dict[int, int]) -> None:
        """Let processes use a GPU: pid -> GPU instance, `NONE` without MIG."""
        gpu = self.gpu(number)
        gpu.processes = len(pids)
        for at, (pid, instance) in enumerate(pids.items()):
            gpu.pids[at], gpu.instances[at] = pid, instance

    def slice(self, number: int, instances: dict[int, int]) -> None:
        """Turn MIG on with slices: GPU instance -> bytes of memory."""
        gpu = self.gpu(number)
        gpu.mig = bool(instances)
        for at in range(SLICES):
            gpu.slices[at].exists = 0
        for at, (instance, size) in enumerate(instances.items()):
            own = gpu.slices[at]
            own.exists, own.instance, own.total, own.used = 1, instance, size, size // 4
            own.uuid = f"MIG-{number}-{instance}".encode()
            own.gpm[1], own.gpm[2] = 70.0, 60.0

    def driver(self, error: int) -> None:
        """Let the library answer an error to everything; 0 loads a driver anew."""
        self.state.driver_error = error
        self.state.driver_epoch += 1
