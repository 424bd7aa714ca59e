"""Family silence, nodes: an agent whose frames stop, told from a planned stop and from the line.

Deadlines run in the ticks' time, from the cadence each node showed, so that what was only sent late
was never silent. When half of all nodes fall silent at once it is the line that broke, and one
finding says so.
"""

from detector.verdict.ledger import Key, Ledger, identity
from forewarn import codes
from forewarn import entity as entities
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Event, Finding

LEAST_SECONDS = 15.0  # an agent that is restarted is back by then
BEATS = 5.0  # that many usual intervals without a frame
KNOWN_FRAMES = 5  # before that nobody knows the cadence
GRACE_SECONDS = 5.0  # to see who else falls silent
FEW = 4  # nodes: of fewer, half is nobody's class
PLANNED_SECONDS = 4 * 3600.0  # planned work that lasts longer is no excuse any more
BOOT_SECONDS = 60.0  # after planned work, until all of a node has told that it booted
SIGNAL, LINE = "agent_up", "pipeline_lag_seconds"


class _Node:
    """What is remembered of one sender; times are in seconds since the epoch."""

    __slots__ = (
        "beat", "boot", "every", "frames", "last", "planned_from", "planned_until", "told",
    )  # fmt: skip

    def __init__(self) -> None:
        self.boot, self.frames, self.last = "", 0, 0.0
        self.beat = self.every = 0.0  # when its sensors were read last, and how far apart usually
        self.planned_from = self.planned_until = 0.0
        self.told = False

    def limit(self) -> float:
        """Return when it counts as silent."""
        return self.last + max(LEAST_SECONDS, BEATS * self.every)

    def silent(self, seconds: float) -> bool:
        """Say whether it is, and nobody planned that."""
        if self.frames < KNOWN_FRAMES or seconds < self.limit():
            return False
        return not self.planned(seconds)

    def planned(self, seconds: float) -> bool:
        """Say whether work on it was announced and is not over."""
        return self.planned_from <= seconds < self.planned_until


class Silence:
    """The watcher of agents."""

    def __init__(self, cluster: str, inventory: Inventory, ledger: Ledger) -> None:
        self._cluster, self._inventory, self._ledger = cluster, inventory, ledger
        self._nodes: dict[str, _Node] = {}
        self._looked = 0.0
        self._line: Key = (entities.path("cluster", cluster), LINE, "silence")

    def planned(self, node: str, seconds: float) -> bool:
        """Say whether work on a node (its entity) is planned now."""
        own = self._nodes.get(node)
        return own is not None and own.planned(seconds)

    def on_frame(self, name: str, boot: str, seconds: float, beats: bool = True) -> list[Finding]:
        """Take a sign of life at `seconds`; a node that is back closes its finding.

        Frames of its sensors come by the clock (`beats`), those of its jobs by their steps.
        """
        entity = entities.path("node", name)
        own = self._nodes.setdefault(entity, _Node())
        gap = seconds - own.last if own.frames else 0.0
        found = [self._missed(entity, own, seconds), self._back(entity, own, boot, seconds, gap)]
        own.boot, own.last = boot, max(own.last, seconds)
        if beats:
            self._beat(own, seconds)
        return [finding for finding in found if finding is not None]

    @staticmethod
    def _beat(own: _Node, seconds: float) -> None:
        """Learn how far apart the frames of a node's sensors are."""
        gap = seconds - own.beat
        if own.frames == 1 or (own.frames and 0 < gap < max(LEAST_SECONDS, BEATS * own.every)):
            own.every += (gap - own.every) / min(own.frames, 20)
        own.beat, own.frames = max(own.beat, seconds), own.frames + 1

    def _missed(self, entity: str, own: _Node, seconds: float) -> Finding | None:
        """Tell of a silence that nobody was there to show: no other node made a tick meanwhile."""
        if own.told or not own.silent(seconds - GRACE_SECONDS) or self._watched() >= FEW:
            return None
        return self._tell(entity, seconds)

    def _watched(self) -> int:
        return sum(own.frames >= KNOWN_FRAMES for own in self._nodes.values())

    def _back(
        self, entity: str, own: _Node, boot: str, seconds: float, gap: float
    ) -> Finding | None:
        """Close the finding of a node that is heard again, whenever what is heard was sent."""
        if gap >= LEAST_SECONDS and seconds > own.planned_from:
            own.planned_until = min(own.planned_until, seconds + BOOT_SECONDS)
        key = _key(entity)
        if not own.told or self._ledger.get(key) is None:
            return None
        own.told = False
        why = "it booted anew" if own.boot != boot else "its agent was away"
        self._ledger.amend(key, text=f"frames of {entity} are back after {gap:.0f} s: {why}")
        return self._ledger.close(key, seconds)

    def on_event(self, event: Event) -> None:
        """Take planned work; it ends by an event, or when the node is back."""
        code = codes.normal(event.code)
        if codes.namespace(code) != "node.maintenance":
            return
        own = self._nodes.setdefault(entities.root(event.entity), _Node())
        seconds = event.time_unix_nano / NANOSECONDS
        if code.endswith(":planned"):
            own.planned_from, own.planned_until = seconds, seconds + PLANNED_SECONDS
        else:
            own.planned_until = min(own.planned_until, seconds)

    def forget(self, entity: str, seconds: float) -> Finding | None:
        """Expect nothing more of a node that was taken out of the inventory."""
        self._nodes.pop(entity, None)
        return self._ledger.close(_key(entity), seconds)

    def on_clock(self, seconds: float) -> list[Finding]:
        """Look once a second of the ticks' time for nodes past their deadline."""
        if seconds - self._looked < 1.0:
            return []
        self._looked = seconds
        silent = [e for e, own in self._nodes.items() if own.silent(seconds - GRACE_SECONDS)]
        if not silent:
            return self._line_is_back(seconds)
        watched = self._watched()
        found: list[Finding | None]
        if watched >= FEW and len(silent) * 2 >= watched:
            found = [self._broken(silent, seconds)]
        else:
            found = [*self._line_is_back(seconds), *(self._tell(e, seconds) for e in silent)]
        return [finding for finding in found if finding is not None]

    def _tell(self, entity: str, seconds: float) -> Finding | None:
        own, key = self._nodes[entity], _key(entity)
        age, limit = seconds - own.last, own.limit()
        effect = age / (limit - own.last)
        if self._ledger.get(key) is not None:
            return self._ledger.update(key, seconds, effect=effect)
        own.told = True
        text = f"no frame of {entity} for {limit - own.last:.0f} s, usual every {own.every:.1f} s"
        return self._open(key, limit, 0.0, "bool", text, self._inventory.job_of(entity))

    def _broken(self, silent: list[str], seconds: float) -> Finding | None:
        """Tell of the line once, instead of every node."""
        since = min(self._nodes[e].last for e in silent)
        if self._ledger.get(self._line) is not None:
            return self._ledger.update(self._line, seconds, observed=seconds - since)
        limit = max(self._nodes[e].limit() for e in silent)
        text = f"{len(silent)} of {len(self._nodes)} nodes fell silent: the line, not each of them"
        return self._open(self._line, limit, limit - since, "seconds", text, "")

    def _line_is_back(self, seconds: float) -> list[Finding]:
        found = self._ledger.close(self._line, seconds)
        return [] if found is None else [found]

    def _open(
        self, key: Key, seconds: float, observed: float, unit: str, text: str, job: str
    ) -> Finding | None:
        nano = round(seconds * NANOSECONDS)
        finding = Finding(
            id=identity(self._cluster, *key, int(seconds)), cluster=self._cluster, entity=key[0],
            signal=key[1], family="silence", movement="absent", value_class="number",
            opened_at_unix_nano=nano, updated_at_unix_nano=nano, observed=observed, unit=unit,
            surprise=300.0, effect=1.0, severity="major", text=text, job=job,
        )  # fmt: skip
        return self._ledger.open(key, finding, seconds)


def _key(entity: str) -> Key:
    return (f"{entity}/agent/main", SIGNAL, "silence")
