"""Findings of the family joint: an entity crossed a limit of its model, until it is calm again."""

from typing import Any

import numpy as np

from detector.verdict.ledger import Key, Ledger, identity
from forewarn.catalogue import CATALOGUE
from forewarn.records import NANOSECONDS, Finding

CALM_SECONDS = 600.0  # as long as crossings are one event where limits are set


class Crossings:
    """Opens, updates and closes one finding an entity, named by the signal that weighs most."""

    def __init__(self, cluster: str) -> None:
        self._cluster, self._ledger = cluster, Ledger()
        self._open: dict[str, tuple[Key, float]] = {}  # entity -> its finding, last crossing

    def on(
        self, entity: str, signal: str, seconds: float, score: tuple[float, float], away: float
    ) -> list[Finding]:
        """Take the score of a reading: (surprise, limit); `away` says to which side it is off."""
        surprise, limit = score
        held = self._open.get(entity)
        found: list[Finding | None] = []
        if held and seconds - held[1] >= CALM_SECONDS:
            found.append(self._close(entity, held[0], seconds))
        if surprise >= limit:
            found.append(self._cross(entity, signal, seconds, surprise, limit, away))
        return [own for own in found if own is not None]

    def _close(self, entity: str, key: Key, seconds: float) -> Finding | None:
        del self._open[entity]
        return self._ledger.close(key, seconds)

    def _cross(
        self, entity: str, signal: str, seconds: float, surprise: float, limit: float, away: float
    ) -> Finding | None:
        changes: dict[str, Any] = {"surprise": round(surprise, 3),
                                   "effect": round(surprise / limit, 3)}  # fmt: skip
        if entity in self._open:
            key = self._open[entity][0]
            self._open[entity] = (key, seconds)
            return self._ledger.update(key, seconds, **changes)
        key = (entity, signal, "joint")
        nano = round(seconds * NANOSECONDS)
        finding = Finding(
            id=identity(self._cluster, *key, int(seconds)), cluster=self._cluster, entity=entity,
            signal=signal, family="joint", movement="up" if away >= 0 or np.isnan(away) else "down",
            value_class="number", opened_at_unix_nano=nano, updated_at_unix_nano=nano,
            unit=CATALOGUE[signal].unit, severity="minor", learned=True,
            text=f"{entity} as a whole is unlike its history, most of all {signal}", **changes,
        )  # fmt: skip
        self._open[entity] = (key, seconds)
        return self._ledger.open(key, finding, seconds)

    def close_all(self, seconds: float) -> list[Finding]:
        """Close what is open: the end of the tables."""
        found = [self._close(entity, key, seconds) for entity, (key, _) in list(self._open.items())]
        return [own for own in found if own is not None]
