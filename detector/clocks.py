"""Clocks seen from outside: a frame ahead of its append time, a node that booted anew."""

from detector.decode import Item
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import entity as entities
from forewarn.records import NANOSECONDS, Event, Finding

SIGNAL = "node_clock_offset_seconds"
CALM_SECONDS = 60.0


class Clocks:
    """Watches what frames say about their node's clock and boot."""

    def __init__(self, cluster: str, ledger: Ledger) -> None:
        self._cluster, self._ledger = cluster, ledger
        self._boots: dict[str, str] = {}
        self._ahead: dict[Key, float] = {}  # when the node was last ahead

    def on_frame(self, item: Item) -> Finding | None:
        """Open or update the finding of a node whose clock is ahead."""
        if item.ahead_seconds <= 0:
            return None
        entity = entities.path("node", item.frame.node)
        key: Key = (entity, SIGNAL, "band")
        self._ahead[key] = item.seconds
        offset = item.ahead_seconds
        if self._ledger.get(key) is not None:
            return self._ledger.update(key, item.seconds, observed=offset)
        nano = round(item.seconds * NANOSECONDS)
        finding = Finding(
            id=identity(self._cluster, entity, SIGNAL, "band", int(item.seconds)),
            cluster=self._cluster, entity=entity, signal=SIGNAL, family="band", movement="above",
            value_class="number", opened_at_unix_nano=nano, updated_at_unix_nano=nano,
            observed=offset, expected=0.0, high=5.0, unit="seconds", surprise=300.0,
            effect=offset / 5.0, severity="major", clock_uncertainty_seconds=offset,
            text=f"the clock of {entity} is {offset:.1f} seconds ahead of the broker's",
        )  # fmt: skip
        return self._ledger.open(key, finding, item.seconds)

    def rebooted(self, item: Item) -> Event | None:
        """Return the event of a node whose boot id changed, once a boot."""
        node, boot = item.frame.node, item.frame.boot_id
        before = self._boots.get(node)
        self._boots[node] = boot
        if not boot or not before or before == boot:
            return None
        return Event(
            cluster=self._cluster, entity=entities.path("node", node),
            code="node.boot_id:changed", time_unix_nano=round(item.seconds * NANOSECONDS),
            severity="major", text=f"boot id changed from {before} to {boot}", node=node,
        )  # fmt: skip

    def on_deadline(self, seconds: float) -> list[Finding]:
        """Close the findings of clocks that are right again."""
        over = [key for key, last in self._ahead.items() if seconds - last >= CALM_SECONDS]
        for key in over:
            del self._ahead[key]
        return [f for key in over if (f := self._ledger.close(key, seconds)) is not None]
