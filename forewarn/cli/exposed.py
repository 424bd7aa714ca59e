"""A simulated cluster on /metrics: the latest readings of all nodes, as their agents show them."""

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from exporters.collector import Measurement
from exporters.exposition import Latest
from forewarn import wire
from forewarn.records import Frame, Outcome

if TYPE_CHECKING:
    from simulator import Instant


class Exposed:
    """Keeps the latest readings; one page holds what each agent would show on its own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._latest = Latest()
        self._layouts = wire.LayoutCache()
        self._nodes: dict[str, set[str]] = defaultdict(set)  # source -> nodes that it is on
        registry.register(self._latest)

    def show(self, instant: "Instant") -> None:
        """Take what was sent at one instant; a source that has ended is seen no more."""
        for frame in (*instant.frames, *instant.job_frames):
            self._latest.update(f"{frame.node}/{frame.source}", self._measurements(frame))
            self._nodes[frame.source].add(frame.node)
        removed = (item for item in instant.inventory if item.removed)
        for source in {name for item in removed for name in item.collects}:
            for node in self._nodes.pop(source, ()):
                self._latest.forget(f"{node}/{source}")

    def _measurements(self, frame: Frame) -> list[Measurement]:
        pairs = self._layouts.get(frame.layout).pairs()
        outcomes = frame.outcome or bytes(len(pairs))  # none is all OK
        return [
            Measurement(signal, entity, value, Outcome(outcome))
            for (signal, entity), value, outcome in zip(
                pairs, array("d", frame.values), outcomes, strict=True
            )
        ]
