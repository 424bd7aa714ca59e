"""What all ranks of a job show at once: then it is no single device's doing.

Per job and signal the middle of each step is followed like a job's own step time (CUSUM on logs,
confirmed over several steps); most ranks must stand beyond it. It is told twice, since both are
asked for: `all` of the peers, and `up` of the job's level.
"""

import math
from typing import Any

import numpy as np

from detector.families.pace import Rule, Trend
from detector.families.peers import Verdict
from detector.families.twins import Panel
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import entity as entities
from forewarn.catalogue import Family, Movement
from forewarn.records import NANOSECONDS, Finding

# Facts: >= 5-10 % over >= 3 steps. Who waits for others is no evidence: communication is left out.
RULE = Rule("up", 1.10)
SIGNALS = frozenset({"rank_compute_seconds", "rank_data_wait_seconds"})
MOST = 0.8
STEP_SHARE = 0.05  # of the step: less is not worth telling
TOLD: tuple[tuple[Family, Movement], ...] = (("peers", "all"), ("band", "up"))


class Common:
    """The watcher of what ranks have in common."""

    def __init__(self, cluster: str, ledger: Ledger) -> None:
        self._cluster, self._ledger = cluster, ledger
        self._trends: dict[tuple[str, str, str], Trend] = {}  # job, signal, group

    def on_panel(self, panel: Panel, verdict: Verdict, seconds: float) -> list[Finding]:
        """Take one comparison of ranks: the middle of each group is one more step."""
        if panel.signal.name not in SIGNALS:
            return []
        rows = np.flatnonzero(verdict.compared.members > 0)
        found = [self._row(panel, verdict, int(row), seconds) for row in rows]
        return [finding for one in found for finding in one]

    def _row(self, panel: Panel, verdict: Verdict, row: int, seconds: float) -> list[Finding]:
        job, middle = panel.jobs[row], float(verdict.compared.middle[row])
        own = (job, panel.signal.name, panel.names[row])
        trend = self._trends.setdefault(own, Trend(RULE))
        if not middle > 0:
            return []
        wrong = trend.push(middle) and self._matters(panel, verdict, row, trend)
        keys: list[Key] = [(job, panel.signal.name, family) for family, _ in TOLD]
        if self._ledger.get(keys[0]) is not None and self._calm(job, panel.signal.name):
            return _some([self._ledger.close(key, seconds) for key in keys])
        if not wrong:
            return []
        return _some([self._tell(key, movement, panel, trend, middle, seconds)
                      for key, (_, movement) in zip(keys, TOLD, strict=True)])  # fmt: skip

    def _calm(self, job: str, signal: str) -> bool:
        """Say whether all groups of a job are back to what is usual."""
        return all(t.calm() for own, t in self._trends.items() if own[:2] == (job, signal))

    @staticmethod
    def _matters(panel: Panel, verdict: Verdict, row: int, trend: Trend) -> bool:
        """Say whether most ranks are beyond what was usual, by a good part of a step."""
        level = verdict.level[row][~np.isnan(verdict.level[row])]
        floor = trend.expected * (RULE.ratio - 1)
        floor = max(floor, STEP_SHARE * float(verdict.steps[row]))
        return float((level > trend.expected + floor).mean()) >= MOST

    def _tell(
        self, key: Key, movement: Movement, panel: Panel, trend: Trend, middle: float,
        seconds: float,
    ) -> Finding | None:  # fmt: skip
        changes: dict[str, Any] = {"observed": middle, "effect": trend.effect()}
        if self._ledger.get(key) is not None:
            return self._ledger.update(key, seconds, **changes)
        if self._ledger.cooling(key, seconds):
            return None
        job, signal, family = key
        nano = round(seconds * NANOSECONDS)
        z = math.log(middle / trend.expected) / trend.spread
        finding = Finding(
            id=identity(self._cluster, job, signal, family, int(seconds)), cluster=self._cluster,
            entity=job, signal=signal, family="peers" if movement == "all" else "band",
            movement=movement, value_class="number", opened_at_unix_nano=nano,
            updated_at_unix_nano=nano, expected=trend.expected, unit=panel.signal.unit,
            surprise=min(300.0, z * z / 2 / math.log(10)), severity="minor",
            job=entities.last_name(job), text=f"{signal} of all ranks of {job} is {middle:.4g} "
            f"{panel.signal.unit}, expected {trend.expected:.4g}", **changes,
        )  # fmt: skip
        return self._ledger.open(key, finding, seconds)

    def on_job(self, job: str, seconds: float) -> list[Finding]:
        """Forget a job that began anew or ended; close what is open."""
        self._trends = {own: trend for own, trend in self._trends.items() if own[0] != job}
        return _some([self._ledger.close((job, name, family), seconds)
                      for name in sorted(SIGNALS) for family, _ in TOLD])  # fmt: skip


def _some(found: list[Finding | None]) -> list[Finding]:
    return [finding for finding in found if finding is not None]
