"""Who else shows it: for each sign, the entities of one kind that showed it lately, by parent.

Kept by counting while findings come, so that asking costs the same however many there are.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator

import msgspec

from detector.incidents.kinds import Sign, sign_of
from detector.incidents.seat import Knowledge
from forewarn import entity as entities
from forewarn.records import NANOSECONDS, Finding

SIBLINGS = 3  # runbook facts: at least three siblings with the same signal
# They must show it this close to one another. A shared cause reaches its children together, but
# they show it when each has warmed up: a coolant loop within minutes (test: 500 s stay apart).
TOGETHER_SECONDS = 300
# Of the parent's own, this share must show it, and of all others at most half that share …
COVERAGE = 0.5
# … or so few of them would all be below one parent less often than this, had they nothing in
# common: three of one node among 64 do, three of one rack among 16 do not.
CHANCE = 1e-3
MAX_FEW = 50  # above, the share decides
# What is believed last to first where nothing else decides between parents of the same children.
ORDER = (
    "cluster facility pdu cdu storage_target switch switch_port rack job device nic pcie_switch"
    " mount gpu node".split()
)
_Key = tuple[str, Sign, str]  # cluster, what is shown, kind of entity


class Shown(msgspec.Struct, frozen=True):
    """That an entity shows a sign: since when, and by which finding."""

    opened_at_unix_nano: int
    finding: str


class _Group:
    """Entities that show a sign, and their times in order."""

    def __init__(self) -> None:
        self.entities: set[str] = set()
        self._times: list[int] = []

    def __len__(self) -> int:
        return len(self.entities)

    def move(self, entity: str, before: int | None, now: int) -> None:
        """Count an entity, or count it later than before."""
        if before is not None:
            del self._times[bisect_left(self._times, before)]
        self.entities.add(entity)
        insort(self._times, now)

    def around(self, time: int) -> int:
        """Return how many show it at about a time."""
        reach = TOGETHER_SECONDS * NANOSECONDS
        return bisect_right(self._times, time + reach) - bisect_left(self._times, time - reach)


class Crowds:
    """Counts all hardware findings of live incidents."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._shown: dict[_Key, dict[str, Shown]] = defaultdict(dict)
        self._groups: dict[tuple[_Key, str], _Group] = defaultdict(_Group)

    def add(self, finding: Finding) -> None:
        """Count a finding; of two at one entity the later counts."""
        key, entity, opened = _key(finding), finding.entity, finding.opened_at_unix_nano
        held = self._shown[key].get(entity)
        before = held.opened_at_unix_nano if held is not None else None
        if before is not None and (before > opened or held == Shown(opened, finding.id)):
            return
        self._shown[key][entity] = Shown(opened, finding.id)
        for parent in ("", *self._known.topology(finding.cluster).hangs_on(entity)):
            self._groups[key, parent].move(entity, before, opened)

    def below(self, finding: Finding, parent: str) -> list[Shown]:
        """Return what hangs on `parent` and shows the same at about the same time."""
        key, time = _key(finding), finding.opened_at_unix_nano
        shown = [self._shown[key][own] for own in sorted(self._groups[key, parent].entities)]
        reach = TOGETHER_SECONDS * NANOSECONDS
        return [own for own in shown if abs(own.opened_at_unix_nano - time) <= reach]

    def parent(self, finding: Finding, held: str, seen: frozenset[str]) -> str | None:
        """Return what the finding's entity shares with the others that show it, or None.

        It is the parent that fits best: most of its own, and most of all that show it. The fit is
        F1 of both shares. Of equal ones counts that which shows something itself (`seen`), then
        that at which the runbook seats most causes of it, then where it was raised to before
        (`held`), then the narrower.
        """
        fits = sorted(self._fits(finding, held, seen))
        return fits[-1][-1] if fits else None

    def _fits(
        self, finding: Finding, held: str, seen: frozenset[str]
    ) -> Iterator[tuple[float, bool, int, bool, int, int, str]]:
        topology, kind = self._known.topology(finding.cluster), _counted(finding.entity)
        key, time = _key(finding), finding.opened_at_unix_nano
        everyone = self._groups[key, ""].around(time)
        if everyone < SIBLINGS:
            return
        for parent in topology.hangs_on(finding.entity):
            inside = self._groups[key, parent].around(time)
            size = topology.children(parent, kind) if inside >= SIBLINGS else 0
            if is_shared(inside, size, everyone, topology.all(kind)):
                fit, above = 2 * inside / (size + everyone), entities.kind(parent)
                rank = -size, ORDER.index(above), parent
                yield fit, parent in seen, self._seats(finding, above), parent == held, *rank

    def _seats(self, finding: Finding, kind: str) -> int:
        causes = self._known.causes
        return sum(causes.sits(entry, kind) for entry in causes.naming(finding))


def is_shared(inside: int, size: int, everyone: int, everywhere: int) -> bool:
    """Say whether a parent explains who shows it: many of its own, or more than by chance.

    `inside` of its `size` show it, and `everyone` of the kind's `everywhere`.
    """
    if inside < SIBLINGS or size == 0:
        return False
    others = everywhere - size
    many = inside / size >= COVERAGE
    if many and (others <= 0 or (everyone - inside) / others <= inside / size / 2):
        return True
    few = everyone <= MAX_FEW and others > 0
    return few and chance(inside, everyone, size / everywhere) < CHANCE


def chance(inside: int, everyone: int, share: float) -> float:
    """Return how often `inside` of `everyone` or more are below one parent by chance alone.

    The first may be anywhere, so it is the upper tail of a binomial distribution of the others.
    """
    trials = everyone - 1
    return sum(
        math.comb(trials, hits) * share**hits * (1 - share) ** (trials - hits)
        for hits in range(inside - 1, trials + 1)
    )


def _key(finding: Finding) -> _Key:
    return finding.cluster, sign_of(finding), entities.kind(finding.entity)


def _counted(entity: str) -> str:
    """Return the kind that siblings are counted by: a node has one agent, announced or not."""
    kind = entities.kind(entity)
    return "node" if kind == "agent" else kind
