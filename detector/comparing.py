"""Twins at the close of a tick: who differs, and what all of them show; told as findings.

Python runs here only for what begins, goes on or ends.
"""

from typing import Any

import numpy as np

from detector.families.concert import Common
from detector.families.peers import SURPRISING, Peers, Verdict, pace
from detector.families.twins import Panel, Twins
from detector.groups import Groups
from detector.population import Population
from detector.series import BLOCK, SIGNALS, Block, Bool, Ints, Series
from detector.verdict import statement
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import entity as entities
from forewarn.inventory import Inventory
from forewarn.records import Finding

SILENT_SECONDS = 600.0  # an outlier that says nothing for so long is closed
WAITING = "rank_communication_bytes_per_second"  # low where a rank waits for a slow one, too
SLOW = "rank_compute_seconds"


class Comparing:
    """Compares twins each tick; owns no statistics itself."""

    def __init__(
        self, cluster: str, series: Series, inventory: Inventory, groups: Groups, ledger: Ledger,
        peers: Peers, population: Population,
    ) -> None:  # fmt: skip
        self._cluster, self._series, self._inventory = cluster, series, inventory
        self._groups, self._ledger = groups, ledger
        self.peers, self._twins = peers, Twins(series, inventory, population)
        self._common = Common(cluster, ledger)
        self._turns: dict[int, int] = {}  # signal's class -> its last turn
        self._open: dict[int, float] = {}  # slot of an outlier -> when it was compared last

    def on_tick(self, seconds: float) -> list[Finding]:
        """Compare what is due."""
        if self._twins.refresh(seconds, self._groups.changes_before(int(seconds))):
            self.peers.restart()
        due = {p.klass for p in self._twins.panels if self._is_due(p, seconds)}
        due = {klass for klass in due if self.peers.news[klass]}
        self.peers.news[list(due)] = False
        self._turns.update({klass: self._turn(klass, seconds) for klass in due})
        found = [self._panel(p, seconds) for p in self._twins.panels if p.klass in due]
        return [*(one for many in found for one in many), *self._silent(seconds)]

    def _is_due(self, panel: Panel, seconds: float) -> bool:
        """Spread the signals over the seconds: each has its own, by the clock."""
        turn = self._turn(panel.klass, seconds)
        return turn > self._turns.setdefault(panel.klass, turn)

    @staticmethod
    def _turn(klass: int, seconds: float) -> int:
        every = pace(SIGNALS[klass]).seconds or 1.0
        return int((seconds - klass % every) // every)

    def _panel(self, panel: Panel, seconds: float) -> list[Finding]:
        verdict = self.peers.compare(panel, seconds)
        if verdict is None:
            return []
        out: list[Finding | None] = [
            *(self._begin(panel, verdict, at, seconds) for at in _where(verdict.begins)),
            *(self._go_on(panel, verdict, at, seconds) for at in _where(verdict.goes_on)),
            *(self._end(panel, at, seconds) for at in _where(verdict.ends)),
        ]
        out += self._common.on_panel(panel, verdict, seconds)
        return [finding for finding in out if finding is not None]

    def _key(self, panel: Panel, at: tuple[int, int]) -> tuple[Key, int]:
        slot = int(panel.slots[at])
        block, local = self._series.at(slot)
        return (block.entity(local), panel.signal.name, "peers"), slot

    def _begin(
        self, panel: Panel, verdict: Verdict, at: tuple[int, int], seconds: float
    ) -> Finding | None:
        key, slot = self._key(panel, at)
        if self._ledger.cooling(key, seconds) or self._waits(panel, key[0]):
            return None
        block, local = self._series.at(slot)
        said = self._said(panel, verdict, at)
        found = statement.finding(
            id_=identity(self._cluster, *key, int(seconds)), cluster=self._cluster, block=block,
            local=local, family="peers", movement="outlier", seconds=seconds,
            job=self._inventory.job_of(key[0]),
            around=statement.readings(self._series, key[0]), twins=panel.names[at[0]], **said,
        )  # fmt: skip
        opened = self._ledger.open(key, found, seconds)
        if opened is not None:
            self.peers.state.open[slot], self._open[slot] = True, seconds
        return opened

    def _waits(self, panel: Panel, entity: str) -> bool:
        """Say whether a rank is only held up by another that is known to compute slowly."""
        if panel.signal.name != WAITING:
            return False
        job = entities.root(entity)
        slow = [self._series.at(slot) for slot in self._open]
        return any(b.entity(n).startswith(job + "/") and b.signal(n).name == SLOW for b, n in slow)

    def _said(self, panel: Panel, verdict: Verdict, at: tuple[int, int]) -> dict[str, Any]:
        """Return what a comparison says of one member, in the signal's unit."""
        compared, row = verdict.compared, at[0]
        observed, scale = float(verdict.level[at]), float(compared.scale[row])
        expected = observed - float(compared.away[at])
        z = abs(float(compared.away[at])) / scale
        return {
            "observed": observed, "expected": expected, "low": expected - SURPRISING * scale,
            "high": expected + SURPRISING * scale, "surprise": z * z / 2 / np.log(10),
            "effect": float(compared.away[at]) / float(verdict.floor[row]),
        }  # fmt: skip

    def _go_on(
        self, panel: Panel, verdict: Verdict, at: tuple[int, int], seconds: float
    ) -> Finding | None:
        key, slot = self._key(panel, at)
        self._open[slot] = seconds
        if self._ledger.get(key) is None:
            return None
        said = self._said(panel, verdict, at)
        return self._ledger.update(
            key, seconds, observed=statement.finite(said["observed"]),
            effect=statement.short(said["effect"]), surprise=statement.short(said["surprise"]),
        )  # fmt: skip

    def _end(self, panel: Panel, at: tuple[int, int], seconds: float) -> Finding | None:
        key, slot = self._key(panel, at)
        return self._close(slot, key, seconds)

    def _close(self, slot: int, key: Key, seconds: float) -> Finding | None:
        self.peers.state.open[slot], self.peers.state.hot[slot] = False, 0
        self._open.pop(slot, None)
        return self._ledger.close(key, seconds)

    def _silent(self, seconds: float) -> list[Finding]:
        """Close the outliers of which nothing comes any more."""
        over = [slot for slot, last in self._open.items() if seconds - last >= SILENT_SECONDS]
        return self._close_all(over, seconds)

    def _close_all(self, slots: list[int], seconds: float) -> list[Finding]:
        out = []
        for slot in slots:
            block, local = self._series.at(slot)
            key: Key = (block.entity(local), block.signal(local).name, "peers")
            out.append(self._close(slot, key, seconds))
        return [finding for finding in out if finding is not None]

    def on_job(self, job: str, seconds: float) -> list[Finding]:
        """A job began anew or ended: what its ranks and its whole showed is over."""
        mine = [slot for slot in self._open if self._of_job(slot, job)]
        return self._close_all(mine, seconds) + self._common.on_job(job, seconds)

    def _of_job(self, slot: int, job: str) -> bool:
        block, local = self._series.at(slot)
        return entities.inside(block.entity(local), job)

    def rebase(self, block: Block, rows: Ints) -> None:
        """Another job: levels are learned anew."""
        self.peers.rebase(rows + block.number * BLOCK)

    def renew(self, block: Block, rows: Ints) -> None:
        """Another device: everything is."""
        self.peers.renew(rows + block.number * BLOCK)


def _where(mask: Bool) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in zip(*np.nonzero(mask), strict=True)]
