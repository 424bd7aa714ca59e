"""What the devices tell besides readings: events and facts. Silent until there is an outlet."""

import time
from collections.abc import Callable, Iterable, Mapping

from exporters.gpu.nvml.reasons import Happening
from exporters.outlet import Outlet

SOURCE = "nvml"
EVENTS = ("gpu.clock_event", "gpu.recovery_action", "nvidia.xid")


class Teller:
    """Used by all readers, each in its thread. `forewarn agent --once` tells nothing."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self._outlet: Outlet | None = None

    def attach(self, outlet: Outlet) -> None:
        """Tell from now on."""
        self._outlet = outlet

    def events(self, entity: str, happenings: Iterable[Happening]) -> None:
        """Send events that happen now."""
        if self._outlet is None:
            return
        for what in happenings:
            now = self._clock()
            self._outlet.event(entity, what.code, now, what.severity, what.text, SOURCE)

    def facts(self, entity: str, attributes: Mapping[str, str]) -> None:
        """Say what a device is, and that its events are watched."""
        if self._outlet is not None:
            self._outlet.announcer.describe(entity, attributes)
            self._outlet.announcer.declare(SOURCE, entity, EVENTS)

    def users(self, gpu: str, pids: Mapping[str, set[int]]) -> None:
        """Say which processes use a GPU and its slices, by entity."""
        if self._outlet is not None:
            self._outlet.announcer.use(gpu, pids)
