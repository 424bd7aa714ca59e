"""Open findings, one per (entity, signal, family): told when they open, change, close."""

import hashlib
from collections.abc import Iterator

import msgspec

from forewarn.catalogue import CATALOGUE, Family, Kind, Movement
from forewarn.records import NANOSECONDS, SEVERITIES, Finding

UPDATE_SECONDS = 60.0
COOL_SECONDS = 120.0  # a finding that closed does not open again within this
BURST_SECONDS = 300.0  # errors come in bursts, minutes apart: they are one finding
CALM_SECONDS, SILENT_SECONDS = 90.0, 600.0
SCORERS: frozenset[Family] = frozenset({"band", "context", "counter"})
AT_ONCE: frozenset[Movement] = frozenset({"above", "below", "zero", "nonzero", "event"})
MAX_OPEN = 20_000
Key = tuple[str, str, str]  # entity, signal, family (an event's: with its code)


def identity(cluster: str, entity: str, signal: str, family: str, tick: int) -> str:
    """Return the finding's id: the same on every path."""
    text = "\n".join((cluster, entity, signal, family, str(tick)))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class _Open:
    """An open finding, as told last."""

    __slots__ = ("finding", "peak", "seen", "told")

    def __init__(self, finding: Finding, seconds: float) -> None:
        self.finding, self.told, self.seen = finding, seconds, seconds
        self.peak = abs(finding.effect)


class Ledger:
    """Decides which changes are worth telling. Times are seconds since the epoch."""

    def __init__(self) -> None:
        self._open: dict[Key, _Open] = {}
        self._cooling: dict[Key, float] = {}
        self.refused = 0

    def __len__(self) -> int:
        return len(self._open)

    def get(self, key: Key) -> Finding | None:
        """Return the open finding of a key."""
        own = self._open.get(key)
        return own.finding if own else None

    def cooling(self, key: Key, seconds: float) -> bool:
        """Say whether a finding of that key closed a moment ago."""
        return seconds < self._cooling.get(key, 0.0)

    def open(self, key: Key, finding: Finding, seconds: float) -> Finding | None:
        """Open a finding; None when the ledger is full (bounded, counted in `refused`)."""
        if len(self._open) >= MAX_OPEN:
            self.refused += 1
            return None
        self._open[key] = _Open(finding, seconds)
        return finding

    def update(self, key: Key, seconds: float, **changes: object) -> Finding | None:
        """Note the latest; return the finding when it changed materially or a minute passed."""
        own = self._open[key]
        own.seen = max(own.seen, seconds)
        new = msgspec.structs.replace(
            own.finding, updated_at_unix_nano=round(seconds * NANOSECONDS), **changes
        )
        graver = SEVERITIES.index(new.severity) > SEVERITIES.index(own.finding.severity)
        doubled = abs(new.effect) >= 2 * own.peak > 0
        if not (graver or doubled or seconds - own.told >= UPDATE_SECONDS):
            own.finding = new
            return None
        own.finding = msgspec.structs.replace(new, seq=new.seq + 1)
        own.told, own.peak = seconds, max(own.peak, abs(new.effect))
        return own.finding

    def amend(self, key: Key, **changes: object) -> Finding:
        """Change an open finding without telling; returns it."""
        own = self._open[key]
        own.finding = msgspec.structs.replace(own.finding, **changes)
        return own.finding

    def close(self, key: Key, seconds: float) -> Finding | None:
        """Close a finding and begin its cool-down."""
        own = self._open.pop(key, None)
        if own is None:
            return None
        self._cooling[key] = seconds + COOL_SECONDS
        nano = round(seconds * NANOSECONDS)
        return msgspec.structs.replace(
            own.finding,
            seq=own.finding.seq + 1,
            updated_at_unix_nano=nano,
            closed_at_unix_nano=nano,
        )

    def silent(self, seconds: float, longest: float, family: Family) -> Iterator[Key]:
        """Give the keys of a family's findings without news for longer than `longest` seconds."""
        for key, own in list(self._open.items()):
            if own.finding.family == family and seconds - own.seen >= longest:
                yield key

    def quiet(self, seconds: float) -> list[Key]:
        """Return findings of scorers to close: a limit kept for 90 s, a count that did not rise for
        300, anything silent for 600.
        """
        found = []
        for key, own in self._open.items():
            at_once = own.finding.movement in AT_ONCE
            counts = CATALOGUE[own.finding.signal].kind is Kind.COUNTER
            calm = BURST_SECONDS if counts else CALM_SECONDS
            longest = calm if at_once else SILENT_SECONDS
            if own.finding.family in SCORERS and seconds - own.seen >= longest:
                found.append(key)
        return found

    def keys(self) -> list[Key]:
        """Return the keys of all open findings."""
        return list(self._open)

    def forget(self, seconds: float) -> None:
        """Drop cool-downs that are over."""
        self._cooling = {key: until for key, until in self._cooling.items() if until > seconds}


def movement_of(effect: float, stepped: bool, steps: bool) -> Movement:
    """Name a lasting change: up or down, step_ where it jumped (and the family may say so)."""
    if steps and stepped:
        return "step_up" if effect > 0 else "step_down"
    return "up" if effect > 0 else "down"
