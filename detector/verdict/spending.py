"""Puts its price on each learned finding: how many a day healthy history would show.

What is told by a rule (an event, a limit, silence, a device set up otherwise than its twins) has no
price: it is outside the budget.
"""

import msgspec
import numpy as np

from detector.families.floors import CONFIGURED
from detector.families.peers import Peers
from detector.series import CLASS, SIGNALS, Series
from detector.verdict.judge import Judge
from detector.verdict.rates import OWN, TOLD, TWINS, Rates
from detector.verdict.strength import severity
from forewarn.records import Finding

RULES = frozenset({"event", "silence"})  # families whose findings are facts
HANG = "job_last_step_age_seconds"  # no step for ten usual ones: a rule as well
REBUILD_MINUTES = 10
SCORED = frozenset({"band", "context", "counter"})


def is_learned(finding: Finding) -> bool:
    """Say whether a finding rests on what was learned; limits and the like expect no value."""
    if finding.family in RULES or finding.expected is None or finding.signal == HANG:
        return False
    return finding.signal not in CONFIGURED


class Spending:
    """Knows strengths and rates; `budget` is false incidents a day."""

    def __init__(
        self, rates: Rates, series: Series, judge: Judge, peers: Peers, budget: float
    ) -> None:
        self._rates, self._series, self._budget = rates, series, budget
        self._judge, self._peers = judge, peers
        self._minutes = 0

    def learn(self, seconds: float) -> None:
        """Let time pass; make the rates anew now and then."""
        present = np.zeros(len(SIGNALS), np.bool_)
        for block in self._series.blocks:
            present[block.klass[: block.used]] = True
        self._rates.pass_time(seconds, present)
        self._minutes += 1
        if self._minutes % REBUILD_MINUTES == 0:
            self._rates.rebuild(self._budget)

    def price(self, finding: Finding) -> Finding:
        """Return the finding with its price, where it is learned; None of it where rates are not
        known yet.
        """
        if not is_learned(finding):
            return finding
        kind, strength = self._strength(finding)
        if kind == TOLD and finding.seq == 1:
            klass = np.array([CLASS[finding.signal]])
            self._rates.note(TOLD, klass, np.array([strength], np.float32))
        known = self._rates.per_day(kind, finding.signal, strength)
        per_day = None if known is None else float(f"{known:.4g}")
        return msgspec.structs.replace(finding, learned=True, per_day=per_day)

    def _strength(self, finding: Finding) -> tuple[int, float]:
        """Return whose tail a finding is held against, and the peak of its strength so far."""
        slot = self._series.find(finding.signal, finding.entity)
        if slot is not None and finding.family == "peers":
            return TWINS, float(self._peers.strengths.peak[slot])
        if slot is not None and finding.family in SCORED:
            block, local = self._series.at(slot)
            return OWN, float(self._judge.persistence.of(block).strengths.peak[local])
        sure = np.array([300.0], np.float32)
        return TOLD, float(abs(severity(sure, np.array([finding.effect], np.float32))[0]))
