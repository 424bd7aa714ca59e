"""Family event: every code of the catalogue that is not normal is a finding; bursts are merged.

The same (entity, code) within 600 s updates one finding; it closes when the burst is over. What
goes bad, comes back and goes bad again flaps: that is a finding of its own.
"""

from collections import OrderedDict, deque

from detector.families.normal import is_normal
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import codes
from forewarn.catalogue import CATALOGUE, Kind, Movement
from forewarn.records import NANOSECONDS, Event, Finding

BURST_SECONDS = 600.0
# States of what is there all the time; a job that fails again and again is told by its restarts.
FLAPPING = frozenset({"nic.link_state", "switch.port_state", "storage.mount_state"})
RELAPSES = 2  # within BURST_SECONDS, so three times bad: an operator's rule of thumb for a flap
REMEMBERED = 100_000  # cursors (source, boot, seq) that tell a second reading


class Relapses:
    """Who went bad, came back and went bad again, and when (seconds); bounded by forgetting."""

    def __init__(self) -> None:
        self._back: set[tuple[str, str]] = set()  # (entity, signal) that came back
        self._times: dict[tuple[str, str], deque[float]] = {}

    def came_back(self, entity: str, name: str) -> None:
        """Take a normal state of what was bad before."""
        if (entity, name) in self._times:
            self._back.add((entity, name))

    def went_bad(self, entity: str, name: str, seconds: float) -> int:
        """Take a bad state; return how often it came back and went bad again of late."""
        own = entity, name
        times = self._times.setdefault(own, deque(maxlen=RELAPSES))
        if own in self._back:
            self._back.discard(own)
            times.append(seconds)
        return sum(seconds - time < BURST_SECONDS for time in times)

    def forget(self, seconds: float, bad: set[tuple[str, str]]) -> None:
        """Drop what is not bad any more and did not relapse of late."""
        kept = {
            own: times
            for own, times in self._times.items()
            if own in bad or (times and seconds - times[-1] < BURST_SECONDS)
        }
        self._times, self._back = kept, self._back & kept.keys()


class Events:
    """The watcher of coded events."""

    def __init__(self, cluster: str, ledger: Ledger) -> None:
        self._cluster, self._ledger = cluster, ledger
        self._seen: OrderedDict[tuple[str, str, str, int, str], None] = OrderedDict()
        self._relapses = Relapses()

    def repeated(self, event: Event) -> bool:
        """Say whether the event was read before (at-least-once delivery, a second reading)."""
        if not event.source or (not event.seq and not event.boot_id):
            return False
        cursor = (event.node, event.source, event.boot_id, event.seq, event.code)
        if cursor in self._seen:
            return True
        self._seen[cursor] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return False

    def on(self, event: Event, job: str) -> list[Finding]:
        """Return the findings that an event opens or updates; none: normal, merged, unknown."""
        code = codes.normal(event.code)
        name = codes.namespace(code)
        signal = CATALOGUE.get(name)
        if signal is None or signal.kind is not Kind.EVENT:
            return []
        if is_normal(code):
            self._relapses.came_back(event.entity, name)
            return []
        found = [self._tell(event, code, job, "event")]
        if name in FLAPPING:
            seconds = event.time_unix_nano / NANOSECONDS
            if self._relapses.went_bad(event.entity, name, seconds) >= RELAPSES:
                found.append(self._tell(event, code, job, "flap"))
        return [finding for finding in found if finding is not None]

    def _tell(self, event: Event, code: str, job: str, movement: Movement) -> Finding | None:
        seconds = event.time_unix_nano / NANOSECONDS
        key: Key = (event.entity, code, movement)
        if self._ledger.get(key) is not None:
            return self._again(key, event, seconds)
        finding = Finding(
            id=identity(self._cluster, event.entity, code, movement, int(seconds)),
            cluster=self._cluster,
            entity=event.entity,
            signal=codes.namespace(code),
            family="event",
            movement=movement,
            value_class="code",
            code=code,
            opened_at_unix_nano=event.time_unix_nano,
            updated_at_unix_nano=event.time_unix_nano,
            severity=event.severity,
            surprise=300.0,
            effect=1.0,
            text=event.text,
            job=job,
        )
        return self._ledger.open(key, finding, seconds)

    def _again(self, key: Key, event: Event, seconds: float) -> Finding | None:
        known = self._ledger.get(key)
        count = known.effect + 1 if known is not None else 1.0
        return self._ledger.update(key, seconds, effect=count, text=event.text)

    def on_deadline(self, seconds: float) -> list[Finding]:
        """Close the bursts that are over."""
        over = list(self._ledger.silent(seconds, BURST_SECONDS, "event"))
        if over:
            bad = {(entity, codes.namespace(code)) for entity, code, _ in self._ledger.keys()}  # noqa: SIM118
            self._relapses.forget(seconds, bad)
        return [f for key in over if (f := self._ledger.close(key, seconds)) is not None]
