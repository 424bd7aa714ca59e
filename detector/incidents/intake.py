"""Takes decide's messages apart: what cannot be read is a dead letter, and the rest goes on."""

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from forewarn import codes, wire
from forewarn import entity as entities
from forewarn.bus import Message, Position
from forewarn.deadletter import DeadLetters
from forewarn.errors import WireError
from forewarn.inventory import Inventory
from forewarn.records import Event, Finding

WORK = "node.maintenance:any"  # planned work begins or has ended
# After one of these the job's own signals come no more: they are over, not healthy.
JOB_ENDS = frozenset(
    f"job.state:{state}" for state in ("completed", "failed", "cancelled", "preempted", "node_fail")
)


class JobEnd(msgspec.Struct, frozen=True):
    """A job has ended: its entity, when, and with which code."""

    cluster: str
    entity: str
    code: str
    time_unix_nano: int


class Batch(msgspec.Struct, frozen=True):
    """What one step works on, findings in the order in which they opened.

    `works` are the events of planned work on nodes.
    """

    findings: tuple[Finding, ...]
    ends: tuple[JobEnd, ...]
    works: tuple[Event, ...]
    offsets: dict[Position, int]


class Intake:
    """Decodes messages; keeps the inventory of every cluster it hears of."""

    def __init__(self, dead: DeadLetters) -> None:
        self._dead = dead
        self._inventories: dict[str, Inventory] = defaultdict(Inventory)

    def inventory(self, cluster: str) -> Inventory:
        """Return the inventory of a cluster; clusters are kept apart."""
        return self._inventories[cluster]

    def take(self, messages: Sequence[Message]) -> Batch:
        """Apply inventory items; return findings, ends of jobs and the next offsets."""
        findings: list[Finding] = []
        ends: list[JobEnd] = []
        works: list[Event] = []
        for message in messages:
            try:
                self._one(message, findings, ends, works)
            except WireError as error:
                self._dead.send(error.reason, str(error), message)
        # Partitions may come in any order; causes are older than what they cause.
        findings.sort(key=lambda own: (own.opened_at_unix_nano, own.id, own.seq))
        return Batch(tuple(findings), tuple(ends), tuple(works), offsets_after(messages))

    def _one(
        self, message: Message, findings: list[Finding], ends: list[JobEnd], works: list[Event]
    ) -> None:
        if message.topic == "findings":
            findings.append(clean(wire.decode_finding(message.value)))
        elif message.topic == "inventory" and message.value:
            item = wire.decode_inventory(message.value)
            self._inventories[item.cluster].apply(item)
        elif message.topic == "events":
            event = wire.decode_event(message.value)
            if _ends_job(event):
                ends.append(JobEnd(event.cluster, event.entity, event.code, event.time_unix_nano))
            elif codes.matches(WORK, event.code):
                works.append(event)


def _ends_job(event: Event) -> bool:
    return entities.kind(event.entity) == "job" and codes.normal(event.code) in JOB_ENDS


def offsets_after(messages: Sequence[Message]) -> dict[Position, int]:
    """Return the offset to go on from, by partition."""
    return {(own.topic, own.partition): own.offset + 1 for own in messages}


def clean(finding: Finding) -> Finding:
    """Drop readings that are no numbers (a NaN loss): no limit can be held against them."""
    if all(math.isfinite(own.value) for own in finding.readings):
        return finding
    kept = tuple(own for own in finding.readings if math.isfinite(own.value))
    return msgspec.structs.replace(finding, readings=kept)
