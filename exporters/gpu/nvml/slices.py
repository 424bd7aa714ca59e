"""MIG: the slices of one GPU, at `.../mig/<GPU instance>`."""

from collections.abc import Container, Iterator
from functools import partial

import msgspec

from exporters.collector import Measurement, unsupported
from exporters.gpu.nvml.api import Device, LackingError
from exporters.gpu.nvml.gpm import Pair
from exporters.gpu.nvml.signals import SLICE
from exporters.gpu.nvml.values import Values, rows

ALLOCATED = "gpu_slices_allocated"
SIGNALS = (ALLOCATED, *SLICE)
NONE = 0xFFFF_FFFF  # id of an instance where there is no MIG


class Place(msgspec.Struct, frozen=True):
    """A slice: GPU instance, compute instance, and the UUID that CUDA knows it by."""

    instance: int
    compute: int
    uuid: str


def entity(gpu: str, instance: int, compute: int) -> str:
    """Return the entity of a slice; where a GPU instance is shared, its compute instance tells.

    Without MIG the ids are `NONE`, and the GPU itself is meant.
    """
    if instance == NONE:
        return gpu
    return f"{gpu}/mig/{instance}" + (f".{compute}" if compute not in {0, NONE} else "")


class Slices:
    """The slices as they are now; they may come and go while the driver runs."""

    def __init__(self, entity: str, parent: Device) -> None:
        self._entity, self._parent = entity, parent
        self._values: dict[Place, Values] = {}
        self._known = True  # whether the device knows MIG at all

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read what is due. Raises LostError, DriverError or NvmlError."""
        if ALLOCATED in due:
            self._find()
        found = [m for values in self._values.values() for m in values.read(due)]
        if ALLOCATED in due and self._known:
            found.append(Measurement(ALLOCATED, self._entity, float(len(self._values))))
        elif ALLOCATED in due:
            found.append(unsupported(ALLOCATED, self._entity))
        return found

    def facts(self) -> dict[str, dict[str, str]]:
        """Return the attributes of each slice, by its entity."""
        return {self._at(place): {"uuid": place.uuid} for place in self._values}

    def _find(self) -> None:
        try:
            enabled = self._parent.ask("nvmlDeviceGetMigMode")[0] == 1
            self._known = True
        except LackingError:
            enabled = self._known = False
        now = dict(self._devices()) if enabled else {}
        kept = {place: values for place, values in self._values.items() if place in now}
        fresh = {place: self._make(place, now[place]) for place in now if place not in kept}
        self._values = {**kept, **fresh}

    def _devices(self) -> Iterator[tuple[Place, Device]]:
        for index in range(self._parent.ask("nvmlDeviceGetMaxMigDeviceCount")):
            try:
                handle = self._parent.ask("nvmlDeviceGetMigDeviceHandleByIndex", index)
            except LackingError:  # no slice at this index
                continue
            own = Device(self._parent.nvml, handle)
            instance = own.ask("nvmlDeviceGetGpuInstanceId")
            compute = own.ask("nvmlDeviceGetComputeInstanceId")
            yield Place(instance, compute, own.text("nvmlDeviceGetUUID")), own

    def _make(self, place: Place, own: Device) -> Values:
        sample = partial(self._parent.ask, "nvmlGpmMigSampleGet", place.instance)
        return Values(rows(self._at(place), SLICE), own, Pair(self._parent, sample))

    def _at(self, place: Place) -> str:
        return entity(self._entity, place.instance, place.compute)
