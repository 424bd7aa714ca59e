"""Whether a signal is read where a cause would show it: only then its absence says something."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.inventory import Inventory
from forewarn.records import Finding
from runbooks.model import At
from runbooks.relations import Relations

# Where one of these is wrong, what its node does not say means nothing.
_SENDERS = frozenset({"agent_up", "node_up"})


class Collected:
    """Answers for one incident; keeps what it worked out.

    A source that is silent (a finding `absent` on the signal, or its node's agent down) does not
    count as collecting.
    """

    def __init__(
        self, inventory: Inventory, relations: Relations, findings: Iterable[Finding]
    ) -> None:
        self._inventory = inventory
        self._relations = relations
        self._silent_nodes: set[str] = set()
        self._silent: dict[str, set[str]] = defaultdict(set)
        for finding in findings:
            if finding.movement == "absent":
                self._silent[finding.signal].add(finding.entity)
            if finding.signal in _SENDERS and finding.movement in {"absent", "zero"}:
                self._silent_nodes.add(entities.root(finding.entity))
        self._names: dict[frozenset[str], frozenset[str]] = {}

    def reads(self, signal: str, at: At, entity: str) -> bool:
        """Say whether some source reads `signal` at the place `at` of a cause at `entity`."""
        if at == "fleet":
            return signal in self._anywhere
        places = self._relations.places(entity, at)
        if len(places) == 1 and self._is_silent(signal, next(iter(places))):
            return False
        if signal in self._named(places):
            return True
        # A source of events (a node's kernel log) may stand for all parts of its node.
        is_event = CATALOGUE[signal].kind is Kind.EVENT
        return is_event and signal in self._read_at(frozenset(map(entities.root, places)))

    def _is_silent(self, signal: str, place: str) -> bool:
        return any(entities.inside(place, own) for own in self._silent.get(signal, ()))

    def _named(self, places: frozenset[str]) -> frozenset[str]:
        """Return all signals that are read at the places or at what is gathered there."""
        if places not in self._names:
            members = (self._relations.members(place) for place in places)
            self._names[places] = self._read_at(frozenset().union(*members))
        return self._names[places]

    def _read_at(self, members: frozenset[str]) -> frozenset[str]:
        return self._inventory.read_at(members, self._silent_roots)

    @cached_property
    def _silent_roots(self) -> frozenset[str]:
        return frozenset(self._silent_nodes)

    @cached_property
    def _anywhere(self) -> frozenset[str]:
        return self._read_at(frozenset(item.entity for item in self._inventory))
