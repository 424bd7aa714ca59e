"""The detector without a bus: tables through the very families that run live, and faster."""

from collections.abc import Sequence

import numpy as np

from detector.families import Families
from detector.groups import Groups
from detector.scoring import Listener, Scoring
from detector.series import BLOCK, F64, Block, Ints, Series, measure
from detector.training.tidy import Instant
from detector.verdict.judge import Judge
from detector.verdict.ledger import Ledger
from forewarn.inventory import Inventory
from forewarn.records import Finding

CLUSTER, MINUTE = "training", 60


class Learner:
    """Takes readings second by second, as they are in tables; learns once a minute."""

    def __init__(self, inventory: Inventory) -> None:
        self.series, self.inventory, self._ledger = Series(), inventory, Ledger()
        groups = Groups(self.series, inventory)
        self.families = Families(CLUSTER, self.series, inventory, self._ledger)
        judge = Judge(
            CLUSTER, self.series, inventory, groups, self._ledger, self._rebase,
            self.families.rates,
        )  # fmt: skip
        self._scoring = Scoring(self.series, self.families, judge)
        self._minute: int | None = None
        self.seconds = -np.inf
        self.late = 0

    def listen(self, listener: Listener) -> None:
        """Tell `listener` of every score from now on."""
        self._scoring.listener = listener

    def place(self, names: Sequence[tuple[str, str]]) -> Ints:
        """Return the slots of (signal, entity) pairs; devices stay together in a block."""
        order = sorted(range(len(names)), key=lambda at: names[at][1])
        slots = np.empty(len(names), np.int64)
        for first in range(0, len(order), BLOCK // 4):
            part = order[first : first + BLOCK // 4]
            slots[part] = self.series.place([names[at] for at in part])
        return slots

    def take(self, instant: Instant, slots: Ints) -> list[Finding]:
        """Take the readings of one second; return the findings that opened, changed or closed."""
        if instant.second <= self.seconds:
            self.late += len(instant.values)
            return []
        self.seconds = float(instant.second)
        own, out = slots[instant.which], self._learn(instant.second)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            for number in np.unique(own // BLOCK):
                here = own // BLOCK == number
                out += self._score(self.series.blocks[int(number)], own[here] % BLOCK,
                                   instant.values[here])  # fmt: skip
        return out

    def _score(self, block: Block, rows: Ints, raw: F64) -> list[Finding]:
        good, time = np.ones(len(rows), np.bool_), np.full(len(rows), self.seconds)
        return self._scoring.score(measure(block, rows, raw, good, time, ~good))

    def _learn(self, second: int) -> list[Finding]:
        """Move the slow statistics where a minute ended."""
        minute = second // MINUTE
        if self._minute is None or minute == self._minute:
            self._minute = minute
            return []
        self._minute = minute
        for block in self.series.blocks:
            self._scoring.learn(block)
        self.families.tails.rebuild()
        self._ledger.forget(float(second))
        found = self._scoring.on_deadline(float(second))
        return [*found, *self.families.resistance.on_tick(float(second))]

    def _rebase(self, block: Block, rows: Ints) -> None:
        for scorer in self.families.scorers:
            scorer.rebase(block, rows)
