"""Findings that open no incident by themselves: words in passing, and what planned work excuses.

They wait for an incident that they belong to, and are evidence in it: planned work speaks against
a fault that would also explain a reboot. What planned work excuses opens an incident after all
when it is still there once the work is over.
"""

from collections.abc import Iterable

import msgspec

from detector.incidents.kinds import AWAY, UP_SIGNALS
from detector.incidents.seat import Seat
from forewarn import codes
from forewarn import entity as entities
from forewarn.records import NANOSECONDS, Event, Finding

# A restart alone is nothing wrong: what made it necessary is, and a count of restarts that grows.
NEVER_ALONE = frozenset({"job.state:restarted"})
# What a place carries is what its jobs ask of it: a job that begins or ends moves it, and nothing
# is wrong with that. Its limits speak for themselves; a learned level is evidence beside others.
CARRIED = frozenset(
    "rack_power_watts rack_power_density_ratio pdu_power_watts pdu_current_amperes "
    "pdu_breaker_load_ratio facility_heat_removed_watts facility_pump_speed_ratio "
    "rack_outlet_temperature_celsius rack_coolant_return_temperature_celsius "
    "rack_coolant_valve_position_ratio facility_coolant_return_temperature_celsius "
    "switch_port_utilization_ratio switch_port_rx_bytes_total switch_port_tx_bytes_total "
    "storage_target_io_seconds_total storage_read_bytes_total storage_write_bytes_total".split()
)
PLANNED, ENDED = "node.maintenance:planned", "node.maintenance:ended"
BOOTED = "node.boot_id"
# How long a word in passing is remembered, and how long planned work lasts at most where nobody
# says that it has ended.
REMEMBER_SECONDS = WORK_SECONDS = 7200
AFTER_WORK_SECONDS = 600  # a node that boots takes as long (10 minutes with memory tests)
MAX_WAITING = 10_000


class Wait(msgspec.Struct, frozen=True):
    """A finding that waits until a time of the stream."""

    finding: Finding
    until_unix_nano: int

    @property
    def key(self) -> tuple[str, str]:
        """Return cluster and id of the finding."""
        return self.finding.cluster, self.finding.id


class Waiting:
    """What waits; bounded, the oldest goes first. `copy` makes a draft."""

    def __init__(self, held: Iterable[Wait] = ()) -> None:
        self._held = {own.key: own for own in held}

    def copy(self) -> "Waiting":
        """Return one that can be changed while this one stays as it is."""
        return Waiting(self._held.values())

    def since(self, other: "Waiting") -> tuple[list[Wait], list[Wait]]:
        """Return what waits no longer, and what waits anew or otherwise, compared with `other`."""
        gone = [own for key, own in other._held.items() if key not in self._held]
        come = [own for key, own in self._held.items() if other._held.get(key) is not own]
        return gone, come

    def take(self, finding: Finding, now: int) -> bool:
        """Say whether a finding is to wait, and let it."""
        until = self._until(finding)
        if until > now:
            self._hold(Wait(finding, until))
        return until > now or is_in_passing(finding)

    def _until(self, finding: Finding) -> int:
        """Return how long it is to wait; 0 where it may open an incident."""
        if is_in_passing(finding):
            return finding.opened_at_unix_nano + REMEMBER_SECONDS * NANOSECONDS
        if not _is_excusable(finding):
            return 0
        return max((_end(work) for work in self._works(finding)), default=0)

    def _works(self, finding: Finding) -> list[Finding]:
        """Return the planned work on its node in whose time it opened."""
        node, opened = entities.root(finding.entity), finding.opened_at_unix_nano
        held = (own.finding for own in self._held.values())
        works = (own for own in held if own.code == PLANNED and own.entity == node)
        return [
            own
            for own in works
            if own.cluster == finding.cluster and own.opened_at_unix_nano <= opened <= _end(own)
        ]

    def plan(self, event: Event) -> Finding | None:
        """Remember that work on a node begins, or that it has ended; return the first as a finding.

        It is remembered also where it becomes evidence of an incident: it goes on excusing.
        """
        if codes.matches(PLANNED, event.code):
            work = _finding(event)
            self._hold(Wait(work, work.opened_at_unix_nano + REMEMBER_SECONDS * NANOSECONDS))
            return work
        for own in list(self._held.values()):
            work = own.finding
            if work.code == PLANNED and (work.cluster, work.entity) == (
                event.cluster,
                event.entity,
            ):
                self._end_work(own, event.time_unix_nano)
        return None

    def _end_work(self, own: Wait, ended: int) -> None:
        if own.finding.closed_at_unix_nano is not None:
            return
        over = msgspec.structs.replace(own.finding, closed_at_unix_nano=ended)
        self._hold(Wait(over, own.until_unix_nano))
        end = _end(over)
        for other in list(self._held.values()):
            found = other.finding
            if _is_excusable(found) and entities.root(found.entity) == over.entity:
                self._hold(Wait(found, min(other.until_unix_nano, end)))

    def _hold(self, own: Wait) -> None:
        self._held[own.key] = own
        if len(self._held) > MAX_WAITING:
            del self._held[next(iter(self._held))]

    def belonging(self, seat: Seat) -> list[Finding]:
        """Return words in passing about the node or the job of a finding, at about its time."""
        node, time = entities.root(seat.finding.entity), seat.finding.opened_at_unix_nano
        held = [own.finding for own in self._held.values() if is_in_passing(own.finding)]
        return [
            own
            for own in held
            if own.cluster == seat.finding.cluster
            and (entities.root(own.entity) == node or (own.job and own.job == seat.job))
            and abs(own.opened_at_unix_nano - time) <= REMEMBER_SECONDS * NANOSECONDS
        ]

    def released(self, now: int) -> list[Finding]:
        """Let go of what has waited long enough; return what is still away and excused no more.

        That a node booted is no state that could last.
        """
        over = [own for own in self._held.values() if own.until_unix_nano <= now]
        for own in over:
            del self._held[own.key]
        return [
            own.finding
            for own in over
            if own.finding.closed_at_unix_nano is None
            and own.finding.movement in AWAY
            and not is_in_passing(own.finding)
        ]


def is_in_passing(finding: Finding) -> bool:
    """Say whether it is worth a line in an incident, but none of its own."""
    if finding.learned and finding.signal in CARRIED:
        return True
    return finding.severity == "info" or finding.code in NEVER_ALONE


def _is_excusable(finding: Finding) -> bool:
    """Say whether planned work on a node brings such a thing about: it is away, it boots."""
    if not finding.entity.startswith("node/") or is_in_passing(finding):
        return False
    return finding.movement in AWAY or finding.signal == BOOTED or finding.signal in UP_SIGNALS


def _end(work: Finding) -> int:
    """Return until when a piece of planned work excuses what it brings about."""
    if work.closed_at_unix_nano is not None:
        return work.closed_at_unix_nano + AFTER_WORK_SECONDS * NANOSECONDS
    return work.opened_at_unix_nano + WORK_SECONDS * NANOSECONDS


def _finding(event: Event) -> Finding:
    """Return planned work as a finding, so that it can be evidence."""
    return Finding(
        id=f"{event.code}|{event.entity}|{event.time_unix_nano}",
        cluster=event.cluster,
        entity=event.entity,
        signal=codes.namespace(PLANNED),
        family="event",
        movement="event",
        value_class="code",
        code=PLANNED,
        opened_at_unix_nano=event.time_unix_nano,
        updated_at_unix_nano=event.time_unix_nano,
        severity="info",
        text=event.text,
    )
