"""A source with devices that fail one by one: a collector each, and one stream for their events."""

from typing import Protocol, runtime_checkable

from exporters.collector import Collector
from exporters.outlet import Outlet
from exporters.streams import Stream


@runtime_checkable
class Part(Collector, Protocol):
    """The collector of one device. A part is named `<name>:<device>`."""

    @property
    def entity(self) -> str:
        """The device: how its reading fares is told below it, and joins what is wrong with it."""


@runtime_checkable
class Compound(Collector, Protocol):
    """A collector of what is common, and of its parts: one collector for each device.

    A part has a thread and a deadline of its own, as any collector.
    """

    @property
    def part_signals(self) -> tuple[str, ...]:
        """All signals that a part may hand back."""

    def parts(self) -> list[Part]:
        """Make the collectors of the devices that are there."""

    def stream(self, outlet: Outlet) -> Stream:
        """Return the source of events; from now on the parts, too, tell what happens."""
