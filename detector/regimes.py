"""What is normal changes with the job: placements, phases, restarts, new devices, reboots.

Each change re-bases the bands it touches (the level is learned anew, the scale kept). Checkpoint,
evaluation and start-up are pauses: no verdicts, no learning; all pauses are bounded in time. A job
that does no step is told as that: what it makes of its devices' levels meanwhile says nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from detector.families import floors
from detector.groups import Groups
from detector.series import BLOCK, SIGNALS, Block, Ints, Series
from forewarn import codes
from forewarn import entity as entities
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Event, InventoryItem

PAUSE_SECONDS = 1800.0  # a checkpoint or evaluation longer than this is no pause any more
START_SECONDS = 900.0  # from `running` to the first step: loading, compiling
SETTLE_SECONDS = 15.0  # after a pause, until levels are back
# No step for so long, and for so many usual steps, is a stall: long before it is told as a hang,
# and before enough samples are off for a finding (`verdict.persistence`).
STALL_SECONDS, STALL_STEPS, KNOWN_STEPS = 8.0, 3.0, 10
RUNNING = frozenset({"running", "restarted"})
PHASES = frozenset({"checkpoint", "evaluation"})
NOTHING = np.zeros(0, np.int64)
Rebase = Callable[[Block, Ints], None]


class _Steps:
    """When a job did its last step, and how far apart they usually are (seconds)."""

    def __init__(self) -> None:
        self.last, self.usual, self.count = np.nan, 0.0, 0

    def took(self, seconds: float) -> None:
        """Take a step; its distance moves the usual one by a tenth."""
        if seconds > self.last:
            self.usual += (seconds - self.last - self.usual) / min(self.count, KNOWN_STEPS)
        self.last, self.count = max(seconds, self.last) if self.count else seconds, self.count + 1

    def stalls(self, seconds: float) -> bool:
        """Say whether the next step is overdue, and not for so long that the excuse is over."""
        if self.count <= KNOWN_STEPS:
            return False
        return max(STALL_SECONDS, STALL_STEPS * self.usual) < seconds - self.last < PAUSE_SECONDS


class _Change(NamedTuple):
    """A change of the inventory that is still to work; `jobs` are those placed anew or no more."""

    item: InventoryItem
    jobs: tuple[str, ...]
    renewed: bool

    @property
    def seconds(self) -> int:
        """Return the second of event time it is of."""
        return self.item.time_unix_nano // NANOSECONDS


class Regimes:
    """Applies what jobs and inventory say to the blocks. Times are seconds since the epoch."""

    def __init__(
        self,
        series: Series,
        inventory: Inventory,
        groups: Groups,
        rebase: Rebase,
        renew: Rebase,
    ) -> None:
        self._series, self._inventory, self._groups = series, inventory, groups
        self._rebase_rows, self._renew_rows = rebase, renew
        self._starting: dict[str, float] = {}  # job -> when it was said to run
        self._steps: dict[str, _Steps] = {}  # by job
        self._ended: set[str] = set()
        self._jobs: set[str] = set()
        self._stale: set[str] = set()  # jobs whose series may have changed
        self._coming: list[_Change] = []
        self._version = -1
        self._settles = SETTLE_SECONDS
        self._follows = np.array([floors.follows_job(signal) for signal in SIGNALS])
        self._marked: dict[str, Ints] = {}  # job -> slots marked as its own

    def on_inventory(self, item: InventoryItem) -> None:
        """Take an item: a new placement or a new device in a slot is a new regime."""
        held = self._inventory.get(item.entity)
        if not self._inventory.apply(item):
            return
        self._groups.changed(item.time_unix_nano // NANOSECONDS)
        before = held.placement if held is not None else None
        both = (before, None if item.removed else item.placement)
        jobs = tuple(own.job for own in both if own is not None and before != item.placement)
        uuid = held.attributes.get("uuid") if held is not None else item.attributes.get("uuid")
        self._coming.append(_Change(item, jobs, uuid != item.attributes.get("uuid")))

    def _take_changes(self, seconds: float) -> None:
        """Let the inventory of earlier seconds work: all of it has come, in whatever order."""
        ripe = [own for own in self._coming if own.seconds < seconds]
        self._coming = [own for own in self._coming if own.seconds >= seconds]
        for own in sorted(ripe, key=lambda change: (change.seconds, change.item.entity)):
            self._ended.difference_update(own.jobs)
            self._stale.update(own.jobs)
            self._jobs.update(own.jobs)
            if own.renewed:
                slots = np.array(self._series.slots(own.item.entity), np.int64)
                self._renew(slots, own.seconds)

    def on_event(self, event: Event) -> None:
        """Take a job.state event; all others say nothing about regimes."""
        code = codes.normal(event.code)
        if codes.namespace(code) != "job.state" or entities.kind(event.entity) != "job":
            return
        job, state = entities.last_name(event.entity), code.partition(":")[2]
        seconds = event.time_unix_nano / NANOSECONDS
        phase, _, edge = state.rpartition("_")
        if phase in PHASES:
            self._pause(job, seconds, PAUSE_SECONDS if edge == "begin" else self._settles)
        elif state in RUNNING:
            self._starting[job] = seconds
            self._steps.pop(job, None)
            self._ended.discard(job)
            self._stale.add(job)
            self._begin(job, seconds, START_SECONDS)
        else:
            self._steps.pop(job, None)
            self._ended.add(job)
            self._stale.add(job)

    def on_step(self, job: str, seconds: float) -> None:
        """Take a finished step: the first one after the start ends the start-up."""
        self._steps.setdefault(job, _Steps()).took(seconds)
        if seconds > self._starting.get(job, np.inf):  # an older step is of the run before
            del self._starting[job]
            self._begin(job, seconds, self._settles)

    def refresh(self, seconds: float, beat: float = 1.0) -> None:
        """Mark what jobs run on, after series or placements changed.

        `beat` is how far apart readings are, in seconds: where it is long, levels settle later.
        """
        self._settles = SETTLE_SECONDS + 2 * (beat - 1)
        self._take_changes(seconds)
        if self._series.version != self._version:
            self._version = self._series.version
            self._stale.update(self._jobs)
        for job in sorted(self._stale):
            self._mark(job, seconds)
        self._stale.clear()
        for job, steps in self._steps.items():
            if steps.stalls(seconds):
                self._wait(job, seconds + self._settles)

    def _mark(self, job: str, seconds: float) -> None:
        """Series that are newly a job's own, or no longer, begin a new regime."""
        own = self._groups.slots(job) if job not in self._ended else NOTHING
        before = self._marked.get(job, NOTHING)
        self._marked[job] = own
        self._load(np.setdiff1d(before, own), False, seconds + self._settles)
        start = START_SECONDS if job in self._starting else self._settles
        self._load(np.setdiff1d(own, before), True, seconds + start)

    def _load(self, slots: Ints, loaded: bool, until: float) -> None:
        for block, rows in self._rows(slots):
            block.loaded[rows] = loaded
            self._rebase_rows(block, rows)
            block.quiet_until[rows] = until

    def _begin(self, job: str, seconds: float, quiet: float) -> None:
        self._load(self._marked.get(job, NOTHING), True, seconds + quiet)

    def _pause(self, job: str, seconds: float, quiet: float) -> None:
        if job in self._starting:
            return
        for block, rows in self._rows(self._marked.get(job, NOTHING)):
            block.quiet_until[rows] = seconds + quiet

    def _wait(self, job: str, until: float) -> None:
        """Hold back what is said of levels that a job makes, while it makes none."""
        for block, rows in self._rows(self._marked.get(job, NOTHING)):
            own = rows[self._follows[block.klass[rows]]]
            block.quiet_until[own] = np.maximum(block.quiet_until[own], until)

    def _renew(self, slots: Ints, seconds: float) -> None:
        for block, rows in self._rows(slots):
            self._renew_rows(block, rows)
            block.quiet_until[rows] = seconds + self._settles

    def _rows(self, slots: Ints) -> list[tuple[Block, Ints]]:
        numbers = slots // BLOCK
        return [
            (self._series.blocks[int(n)], slots[numbers == n] % BLOCK) for n in np.unique(numbers)
        ]
