"""A pipeline stage that has more to do than the others: nobody's fault, and nobody to blame.

Ranks are compared within their stage (family peers); here stages are, by the middle of their ranks'
computing time. What stands out is how the model was cut, or a whole stage's machines.
"""

from collections import defaultdict, deque
from typing import NamedTuple

import numpy as np

from detector.series import BLOCK, Ints, Series
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import entity as entities
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding

SIGNAL, READ = "job_stage_imbalance_ratio", "rank_compute_seconds"
LOOK_SECONDS = 5.0
SLOW, CALM = 0.30, 0.15  # the last stage has the vocabulary: up to a fifth more is how models are
K, N = 4, 5  # of the latest comparisons, as for ranks
QUORUM = 0.8  # of the ranks must have finished another step
Latest = deque[tuple[str, float]]  # which stage was slowest, and by which share


class _Ranks(NamedTuple):
    """The ranks of a job that tell how long they compute: their slots, and stages by name."""

    slots: Ints
    stages: tuple[str, ...]


class Stages:
    """The watcher of pipeline stages."""

    def __init__(self, cluster: str, series: Series, inventory: Inventory, ledger: Ledger) -> None:
        self._cluster, self._series, self._inventory = cluster, series, inventory
        self._ledger = ledger
        self._version = (-1, -1)
        self._jobs: dict[str, _Ranks] = {}
        self._seen: dict[str, float] = {}  # up to when each job's steps were compared
        self._latest: dict[str, Latest] = defaultdict(lambda: deque(maxlen=N))
        self._looked = 0.0

    def on_tick(self, seconds: float) -> list[Finding]:
        """Compare the stages of the jobs whose ranks have done a step since."""
        if seconds - self._looked < LOOK_SECONDS:
            return []
        self._looked = seconds
        self._refresh()
        found = [self._compare(job, own, seconds) for job, own in self._jobs.items()]
        return [finding for finding in found if finding is not None]

    def on_job(self, job: str, seconds: float) -> list[Finding]:
        """Forget a job (its entity) that began anew or ended."""
        self._latest.pop(job, None)
        closed = self._ledger.close(_key(job), seconds)
        return [] if closed is None else [closed]

    def _refresh(self) -> None:
        version = (self._series.version, self._inventory.version)
        if version == self._version:
            return
        self._version = version
        names = {own.placement.job for own in self._inventory if own.placement is not None}
        ranks = {entities.path("job", name): self._ranks(name) for name in sorted(names)}
        self._jobs = {job: own for job, own in ranks.items() if len(set(own.stages)) > 1}

    def _ranks(self, name: str) -> _Ranks:
        found = [
            (slot, str(placement.stage))
            for rank, placement in self._inventory.ranks(name).items()
            if placement.stage is not None and (slot := self._series.find(READ, rank)) is not None
        ]
        return _Ranks(np.array([slot for slot, _ in found], np.int64), tuple(s for _, s in found))

    def _compare(self, job: str, own: _Ranks, seconds: float) -> Finding | None:
        times = np.array([self._series.blocks[s // BLOCK].time[s % BLOCK] for s in own.slots])
        if (times > self._seen.get(job, 0.0)).mean() < QUORUM:
            return None
        self._seen[job] = float(np.nanmax(times))
        level = self._series.latest(own.slots).astype(np.float64)
        labels = np.array(own.stages)
        middles = {stage: float(np.median(level[labels == stage])) for stage in set(own.stages)}
        slowest = max(sorted(middles), key=lambda stage: middles[stage])
        others = float(np.median([own for stage, own in middles.items() if stage != slowest]))
        share = middles[slowest] / others - 1 if others > 0 else 0.0
        self._latest[job].append((slowest, share))
        return self._say(job, slowest, share, seconds)

    def _say(self, job: str, stage: str, share: float, seconds: float) -> Finding | None:
        latest, key = self._latest[job], _key(job)
        slow = sum(own == stage and more >= SLOW for own, more in latest)
        if self._ledger.get(key) is not None:
            if all(more < CALM for _, more in latest):
                return self._ledger.close(key, seconds)
            return self._ledger.update(key, seconds, observed=round(share, 4))
        if slow < K or share < SLOW or self._ledger.cooling(key, seconds):
            return None
        nano = round(seconds * NANOSECONDS)
        finding = Finding(
            id=identity(self._cluster, *key, int(seconds)), cluster=self._cluster, entity=job,
            signal=SIGNAL, family="peers", movement="outlier", value_class="number",
            opened_at_unix_nano=nano, updated_at_unix_nano=nano, observed=round(share, 4),
            expected=0.0, high=SLOW, unit="ratio", surprise=300.0, effect=round(share / SLOW, 3),
            severity="minor", job=entities.last_name(job),
            text=f"stage {stage} of {job} computes {100 * share:.0f} % longer than other stages",
        )  # fmt: skip
        return self._ledger.open(key, finding, seconds)


def _key(job: str) -> Key:
    return (job, SIGNAL, "peers")
