"""Family event: every code of the catalogue that is not normal is a finding; bursts are merged.

The same (entity, code) within 600 s updates one finding; it closes when the burst is over.
"""

from collections import OrderedDict

from detector.families.normal import is_normal
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import codes
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.records import NANOSECONDS, Event, Finding

BURST_SECONDS = 600.0
REMEMBERED = 100_000  # cursors (source, boot, seq) that tell a second reading


class Events:
    """The watcher of coded events."""

    def __init__(self, cluster: str, ledger: Ledger) -> None:
        self._cluster, self._ledger = cluster, ledger
        self._seen: OrderedDict[tuple[str, str, str, int, str], None] = OrderedDict()

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

    def on(self, event: Event, job: str) -> Finding | None:
        """Return the finding that an event opens or updates, or None: normal, merged, unknown."""
        code = codes.normal(event.code)
        name = codes.namespace(code)
        signal = CATALOGUE.get(name)
        if signal is None or signal.kind is not Kind.EVENT or is_normal(code):
            return None
        seconds = event.time_unix_nano / NANOSECONDS
        key: Key = (event.entity, code, "event")
        if self._ledger.get(key) is not None:
            return self._again(key, event, seconds)
        finding = Finding(
            id=identity(self._cluster, event.entity, code, "event", int(seconds)),
            cluster=self._cluster,
            entity=event.entity,
            signal=name,
            family="event",
            movement="event",
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
        over = self._ledger.silent(seconds, BURST_SECONDS, "event")
        return [f for key in over if (f := self._ledger.close(key, seconds)) is not None]
