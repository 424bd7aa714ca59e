"""Family silence, devices: one of which nothing good is read any more while its node goes on.

By array, for all devices at once: the newest good reading of each against that of its node, in
the node's own clock. What its readings usually lag behind is learned and allowed for.
"""

from typing import Any

import numpy as np

from detector.families.silence import Silence
from detector.population import Numbers, Population
from detector.series import F64, SIGNALS, Bool, Ints, Series
from detector.verdict import statement
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import entity as entities
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding

# What says that a device is gone, by its kind; what else is read of it may be absent with it.
SAYS = {"gpu": "gpu_last_reading_age_seconds", "nic_port": "nic_link_up"}
EVERY_SECONDS = 5.0
LEAST_SECONDS, PERIODS, USUAL = 30.0, 5.0, 3.0
FADE = 0.999  # of the longest gap, with each gap that ended
ALIVE_SECONDS = 15.0  # a node without newer readings is silent itself


class Devices:
    """The watcher of devices."""

    def __init__(
        self, cluster: str, series: Series, inventory: Inventory, ledger: Ledger,
        population: Population, silence: Silence,
    ) -> None:  # fmt: skip
        self._cluster, self._series, self._inventory = cluster, series, inventory
        self._ledger, self._people, self._silence = ledger, population, silence
        self._looked = -np.inf
        self._order: Numbers = np.zeros(0, np.int32)  # slots by entity
        self._starts: Ints = np.zeros(0, np.int64)
        self._who: Ints = np.zeros(0, np.int64)  # numbers of devices
        self._node: Ints = np.zeros(0, np.int64)  # number of each entity's root
        self._patience: F64 = np.zeros(0)
        self._usual: F64 = np.zeros(0)
        self._before: F64 = np.zeros(0)
        self._open: Bool = np.zeros(0, np.bool_)

    def on_tick(self, seconds: float) -> list[Finding]:
        """Look every few seconds."""
        if seconds - self._looked < EVERY_SECONDS or not self._series.blocks:
            return []
        self._looked = seconds
        self._people.refresh()
        if len(self._usual) < len(self._people.entities) or len(self._order) < len(self._series):
            self._lay()
        lag, alive = self._lags(seconds)
        limit = np.maximum(self._patience, USUAL * self._usual)
        gone = alive & (lag >= limit) & np.isfinite(lag)
        here = alive & (lag < limit)
        over = here & (lag < self._before)  # only a gap that ended says what is usual
        self._usual = np.where(over, np.maximum(self._usual * FADE, self._before), self._usual)
        self._before = np.where(here, lag, 0.0)
        found = [self._tell(n, lag[n], limit[n], seconds) for n in self._who[gone[self._who]]]
        found += [self._back(int(n), seconds) for n in np.flatnonzero(self._open & here)]
        return [finding for finding in found if finding is not None]

    def _lay(self) -> None:
        """Sort slots by entity; know who is a device, and whose."""
        people, of_slot = self._people.entities, self._people.of_slot
        order = np.argsort(of_slot, kind="stable").astype(np.int32)
        self._order = order[np.searchsorted(of_slot[order], 0) :]
        self._starts = np.searchsorted(of_slot[self._order], np.arange(len(people)))
        roots: dict[str, int] = {}
        self._node = np.array([roots.setdefault(entities.root(e), len(roots)) for e in people])
        kinds = [entities.kind(e) for e in people]
        own = [n for n, e in enumerate(people) if kinds[n] in SAYS and e.startswith("node/")]
        self._who = np.array(own, np.int64)
        more = len(people) - len(self._usual)
        self._usual = np.append(self._usual, np.zeros(more))
        self._before = np.append(self._before, np.zeros(more))
        self._open = np.append(self._open, np.zeros(more, np.bool_))
        period = np.array([signal.period_seconds for signal in SIGNALS], np.float64)
        klass = np.concatenate([block.klass for block in self._series.blocks])
        least = np.minimum.reduceat(period[klass[self._order]], self._starts)
        self._patience = np.maximum(LEAST_SECONDS, PERIODS * least)

    def _lags(self, seconds: float) -> tuple[F64, Bool]:
        """Return how far each entity's newest good reading is behind its node's; who is alive."""
        times = np.concatenate([block.time for block in self._series.blocks])
        times = np.where(np.isnan(times), -np.inf, times)
        last = np.maximum.reduceat(times[self._order], self._starts)
        newest = np.full(int(self._node.max()) + 1, -np.inf)
        np.maximum.at(newest, self._node, last)
        whole = newest[self._node]
        alive: Bool = np.isfinite(last) & (whole >= seconds - ALIVE_SECONDS)
        return np.where(np.isfinite(last), whole - last, np.inf), alive

    def _tell(self, number: int, lag: float, limit: float, seconds: float) -> Finding | None:
        entity = self._people.entities[number]
        key: Key = (entity, SAYS[entities.kind(entity)], "silence")
        if self._ledger.get(key) is not None:
            return self._ledger.update(key, seconds, effect=lag / limit, **_age(key, lag))
        if self._excused(entity, seconds) or self._ledger.cooling(key, seconds):
            return None
        nano = round(seconds * NANOSECONDS)
        finding = Finding(
            id=identity(self._cluster, *key, int(seconds)), cluster=self._cluster, entity=entity,
            signal=key[1], family="silence", movement="absent", value_class="number",
            opened_at_unix_nano=nano, updated_at_unix_nano=nano, surprise=300.0,
            effect=statement.short(lag / limit), severity="critical",
            text=f"nothing was read of {entity} for {lag:.0f} s while its node goes on",
            job=self._inventory.job_of(entity), **_age(key, lag),
        )  # fmt: skip
        opened = self._ledger.open(key, finding, seconds)
        self._open[number] = opened is not None
        return opened

    def _excused(self, entity: str, seconds: float) -> bool:
        """Say whether nobody reads it any more by intention, or work is planned."""
        item = self._inventory.get(entity)
        unread = item is not None and not any(item.collects.values())
        return unread or self._silence.planned(entities.root(entity), seconds)

    def _back(self, number: int, seconds: float) -> Finding | None:
        self._open[number] = False
        entity = self._people.entities[number]
        return self._ledger.close((entity, SAYS[entities.kind(entity)], "silence"), seconds)


def _age(key: Key, lag: float) -> dict[str, Any]:
    """Return what the finding's signal reads as: an age where it is one, else 0."""
    if key[1].endswith("_age_seconds"):
        return {"observed": float(lag), "unit": "seconds"}
    return {"observed": 0.0, "unit": "bool"}
