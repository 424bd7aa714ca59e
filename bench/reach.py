"""Which incidents lie in the reach of a fault, and which have none behind them."""

import msgspec

from forewarn import entity as entities
from forewarn.cli.score import CLOCK_SECONDS
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS
from simulator.claims import Claims
from simulator.faults import FAULTS
from simulator.fleet import Machines
from simulator.places import Places, places
from simulator.scenario import Scenario


class Other(msgspec.Struct, frozen=True):
    """An incident that is no fault's first: `of` is the fault whose reach it lies in, if any."""

    entity: str
    cause: str
    seconds: float
    of: str


def others_of(incidents: list[Incident], own: Scenario) -> tuple[Other, ...]:
    """Say of each incident whether it lies in the reach of a fault that had begun."""
    machines = Machines(own.fleet)
    known, claims = places(machines, own.job), Claims(machines, own.job)
    reach = []
    for fault in own.fault:
        kind = FAULTS[fault.mode].entity_kind
        reach.append((fault, claims.nodes(kind, known[kind][fault.entity])))
    out = []
    for incident in incidents:
        begin = (incident.first_evidence_at_unix_nano - own.start_unix_nano) / NANOSECONDS
        nodes = nodes_of(incident, known, claims)
        fit = (
            fault.mode for fault, touched in reach
            if touched & nodes and begin >= fault.onset_seconds - CLOCK_SECONDS
        )  # fmt: skip
        cause = incident.hypotheses[0].entry if incident.hypotheses else ""
        out.append(Other(incident.entity, cause, begin, next(fit, "")))
    return tuple(out)


def nodes_of(incident: Incident, known: Places, claims: Claims) -> frozenset[int]:
    """Return the nodes that an incident speaks of, by what it names and by their jobs."""
    found: set[int] = set()
    for entity in (incident.entity, *incident.affected):
        root = entities.root(entity)
        kind = entities.kind(root)
        if root in known.get(kind, {}):
            found |= claims.nodes(kind, known[kind][root])
    return frozenset(found)
