"""Family progress: what a training job says of itself, step by step.

NaN at once; a gradient norm that climbs before it; a loss that leaps; steps that got slower, within
the run or since the run before; no step at all. Checkpoints, evaluations, restarts and the tokens
of a step are known, the first steps are warm-up.
"""

import math
from collections import deque
from collections.abc import Callable
from statistics import median
from typing import Any

from detector.families.former import SAME_SECONDS, YOUNG_STEPS, Expected, Former, Kind, slower
from detector.families.pace import MEMORY_STEPS, WARM_STEPS, Rule, Trend
from detector.verdict.ledger import Key, Ledger, identity
from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE, Movement
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding, ValueClass

LOSS_LEAP = 0.3  # log; and 8 spreads
HANG_STEPS, HANG_SECONDS = 10.0, 60.0  # no step for ten usual steps, and a minute
PAUSE_SECONDS = 1800.0  # a checkpoint or evaluation that lasts longer is no excuse any more
LOST_SECONDS = 180.0  # between two ticks: all readings of that time are lost
WORD_SECONDS = 5.0  # a job that tells its age each second and skips so much has no word on the bus
Reached = Callable[[str, str], tuple[float, float]]


RULES: dict[str, Rule] = {
    "job_gradient_norm": Rule("grows", 2.0, 5),
    "job_loss": Rule("spike", math.exp(LOSS_LEAP), 1),
    "job_step_seconds": Rule("step_up", 1.10, power=1.0),
    "job_tokens_per_second": Rule("step_down", 1 / 1.10, power=0.0),
    "job_mfu_ratio": Rule("step_down", 1 / 1.10, power=0.0),
}
TOKENS = "job_tokens_per_step"
PARAMETERS = "parameters"  # attribute of a rank: how many the model has
WATCHED = frozenset({*RULES, TOKENS, "job_last_step_age_seconds"})
NAN_CODES = {"job_loss": "job.nan:loss", "job_gradient_norm": "job.nan:gradient_norm"}


class _Job:
    """What is remembered of one job."""

    def __init__(self) -> None:
        self.trends = {name: Trend(rule) for name, rule in RULES.items()}
        self.paused_until = 0.0
        self.last_step = math.nan
        self.node, self.heard = "", math.nan  # who sent its latest word, and when
        self.late = 0.0  # seconds by which that was behind its tick
        self.tells_age = False
        self.step_seconds: deque[float] = deque(maxlen=MEMORY_STEPS)
        self.steps, self.usual = 0, 0.0
        self.nan_since: dict[str, float] = {}
        self.kinds: tuple[Kind, ...] = ()  # of its runs, for `former`
        self.worse: dict[str, tuple[Expected, float]] = {}  # than before; until when that is news

    def took(self, seconds: float) -> None:
        """Take a step's time."""
        self.step_seconds.append(seconds)
        self.steps += 1
        if self.steps < MEMORY_STEPS or self.steps % WARM_STEPS == 0:
            self.usual = median(self.step_seconds)

    def limit(self) -> float:
        """Return for how long no step may be done."""
        return max(HANG_SECONDS, HANG_STEPS * self.usual)


class Progress:
    """The watcher of jobs."""

    def __init__(self, cluster: str, ledger: Ledger, inventory: Inventory | None = None) -> None:
        self._cluster, self._ledger = cluster, ledger
        self._inventory = inventory or Inventory()
        self._jobs: dict[str, _Job] = {}
        self._former = Former()
        self._looked = math.inf

    def on_state(self, entity: str, state: str, seconds: float) -> list[Finding]:
        """Take a job.state code: phases and restarts excuse what they explain."""
        job = self._jobs.setdefault(entity, _Job())
        if state.endswith("_begin"):
            job.paused_until = seconds + PAUSE_SECONDS
        elif state.endswith("_end"):
            job.paused_until = seconds
            job.last_step = max(seconds, job.last_step)  # NaN, no step yet, does not win
        elif state in {"running", "restarted"}:
            self._former.keep(job.kinds, job.trends)
            self._jobs[entity] = _Job()
        else:  # completed, failed, cancelled …: nothing is expected of it any more
            self._former.keep(job.kinds, job.trends)
            del self._jobs[entity]
            return self._close_all(entity, seconds)
        return []

    def on_values(
        self, entity: str, values: dict[str, float], seconds: float, node: str = "",
        late: float = 0.0,
    ) -> list[Finding]:  # fmt: skip
        """Take the readings of one job at one instant; the signals are the catalogue's.

        `node` sent them; they are `late` seconds behind the tick that they are taken in.
        """
        job = self._jobs.setdefault(entity, _Job())
        job.node, job.heard, job.late = node, seconds, late
        if "job_step_seconds" in values or "job_loss" in values:
            job.last_step = seconds
        out = [
            self._trend(job, entity, name, values, seconds)
            for name in RULES
            if 0 < values.get(name, math.nan) < math.inf
        ]
        if values.get("job_step_seconds", math.nan) > 0:
            job.took(values["job_step_seconds"])
        age = values.get("job_last_step_age_seconds", math.nan)
        job.tells_age = job.tells_age or not math.isnan(age)
        out.append(self._hang(job, entity, age, seconds))
        return [finding for finding in out if finding is not None]

    def on_number(self, entity: str, name: str, value: float, seconds: float) -> Finding | None:
        """Look at one reading the moment it arrives: NaN and infinities wait for nobody."""
        if name not in NAN_CODES:
            return None
        return self._nan(self._jobs.setdefault(entity, _Job()), entity, name, value, seconds)

    def on_deadline(self, seconds: float, reached: Reached | None = None) -> list[Finding]:
        """Look for jobs whose last step is too long ago, in the event time of their own nodes.

        `reached` of (job entity, node that spoke for it last) gives the times up to which that
        node and the latest of all nodes of the job have reported; without it all are on time.
        """
        out = []
        if seconds - self._looked > LOST_SECONDS:
            self._forgive(seconds)
        self._looked = seconds
        for entity, job in self._jobs.items():
            if not seconds - job.last_step > job.limit() and not self._hangs(entity):
                continue
            now = min(seconds, self._clock(job, entity, reached) if reached else seconds)
            out.append(self._hang(job, entity, now - job.late - job.last_step, now))
        return [finding for finding in out if finding is not None]

    def _forgive(self, seconds: float) -> None:
        """Count no time in which nobody was heard: nobody knows whether there were steps."""
        for job in self._jobs.values():
            job.last_step = max(job.last_step, seconds)

    @staticmethod
    def _clock(job: _Job, entity: str, reached: Reached) -> float:
        """Return the time up to which a job would have been heard of, had it done a step.

        A job that tells its age each second is heard of up to its latest word while the node that
        speaks for it lives: what is missing is on its way. Others are by their nodes' frames.
        """
        speaker, latest = reached(entity, job.node)
        return job.heard if job.tells_age and speaker > job.heard + WORD_SECONDS else latest

    def _hangs(self, entity: str) -> bool:
        return self._ledger.get((entity, "job_last_step_age_seconds", "progress")) is not None

    def _nan(
        self, job: _Job, entity: str, name: str, value: float, seconds: float
    ) -> Finding | None:
        key: Key = (entity, NAN_CODES[name], "progress")
        if math.isfinite(value):
            job.nan_since.pop(name, None)
            return self._ledger.close(key, seconds)
        job.nan_since.setdefault(name, seconds)
        if self._ledger.get(key) is not None:
            return self._ledger.update(key, seconds)
        kind: ValueClass = "nan" if math.isnan(value) else ("+inf" if value > 0 else "-inf")
        return self._open(key, entity, "job.nan", "event", seconds, {
            "code": NAN_CODES[name], "value_class": kind, "severity": "critical",
            "surprise": 300.0, "effect": 1.0, "text": f"{name} of {entity} is {kind}",
        })  # fmt: skip

    def _trend(
        self, job: _Job, entity: str, name: str, values: dict[str, float], seconds: float
    ) -> Finding | None:
        trend, key, value = job.trends[name], (entity, name, "progress"), values[name]
        if name not in {"job_gradient_norm", "job_loss"} and self._paused(job, seconds):
            return None
        wrong = trend.push(value, values.get(TOKENS, math.nan))
        before = self._before(job, entity, name, seconds)
        open_now = self._ledger.get(key) is not None
        if open_now and before is None and trend.calm():
            return self._ledger.close(key, seconds)
        if not wrong and before is None:
            return None
        changes: dict[str, Any] = {"observed": value, "effect": _effect(trend, before)}
        if open_now:
            return self._ledger.update(key, seconds, **changes)
        if self._ledger.cooling(key, seconds):
            return None
        return self._open(key, entity, name, trend.rule.movement, seconds, {
            **changes, **_expectation(trend, name, before), "severity": trend.rule.severity,
            "text": f"{name} of {entity} is {value:.4g}, expected {_level(trend, before):.4g}"
                    f"{f', as in {before.whose}' if before else ''}",
        })  # fmt: skip

    def _before(self, job: _Job, entity: str, name: str, seconds: float) -> Expected | None:
        """Return what earlier runs let expect, while this one is worse and that is still news."""
        trend = job.trends[name]
        if trend.steps == YOUNG_STEPS:
            job.kinds = self._kinds(entity)
            expected = self._former.expect(job.kinds, name, trend)
            if expected is not None:
                job.worse[name] = (expected, seconds + SAME_SECONDS)
        expected, until = job.worse.get(name, (None, 0.0))
        if expected is None or (seconds < until and slower(trend, expected)):
            return expected
        del job.worse[name]
        return None

    def _kinds(self, entity: str) -> tuple[Kind, ...]:
        """Return what a run is compared as: this job on so many ranks, such a model on such GPUs.

        The reporter says how many parameters the model has; without it there is the first only.
        """
        ranks = self._inventory.ranks(entities.last_name(entity))
        own = ("job", entity, str(len(ranks)))
        first = min(ranks, default="")
        devices = ranks[first].devices if ranks else ()
        parameters = self._inventory.attribute(first, PARAMETERS) if ranks else None
        model = self._inventory.attribute(devices[0], "model") if devices else None
        if not parameters or not model:
            return (own,)
        return (own, ("like", parameters, model, str(len(ranks))))

    def _hang(self, job: _Job, entity: str, age: float, seconds: float) -> Finding | None:
        key: Key = (entity, "job_last_step_age_seconds", "progress")
        if len(job.step_seconds) < WARM_STEPS:
            return None
        usual, limit = job.usual, job.limit()
        opened = self._ledger.get(key) is not None
        if not age > limit or self._paused(job, seconds):
            return self._ledger.close(key, seconds) if opened and age <= limit else None
        changes: dict[str, Any] = {"observed": age, "effect": age / limit}
        if opened:
            return self._ledger.update(key, seconds, **changes)
        return self._open(key, entity, "job_last_step_age_seconds", "step_up", seconds, {
            **changes, "expected": usual, "high": limit, "unit": "seconds", "surprise": 300.0,
            "severity": "critical",
            "text": f"{entity}: no step for {age:.0f} s, usual step {usual:.3g} s",
        })  # fmt: skip

    @staticmethod
    def _paused(job: _Job, seconds: float) -> bool:
        return seconds <= job.paused_until

    def _open(
        self, key: Key, entity: str, signal: str, movement: Movement, seconds: float,
        fields: dict[str, Any],
    ) -> Finding | None:  # fmt: skip
        nano = round(seconds * NANOSECONDS)
        finding = Finding(
            id=identity(self._cluster, entity, key[1], "progress", int(seconds)),
            cluster=self._cluster, entity=entity, signal=signal, family="progress",
            movement=movement, value_class=fields.pop("value_class", "number"),
            opened_at_unix_nano=nano, updated_at_unix_nano=nano,
            job=entities.last_name(entity), **fields,
        )  # fmt: skip
        return self._ledger.open(key, finding, seconds)

    def _close_all(self, entity: str, seconds: float) -> list[Finding]:
        mine = [k for k in self._ledger.keys() if k[0] == entity and k[2] == "progress"]  # noqa: SIM118
        return [f for k in mine if (f := self._ledger.close(k, seconds)) is not None]


def _level(trend: Trend, before: Expected | None) -> float:
    """Return what was expected (the signal's unit)."""
    return math.exp(before.log) if before else trend.expected


def _effect(trend: Trend, before: Expected | None) -> float:
    """Return the distance of the latest steps in effect floors, signed."""
    return (trend.now() - before.log) / math.log(before.ratio) if before else trend.effect()


def _expectation(trend: Trend, name: str, before: Expected | None) -> dict[str, Any]:
    """Return expected, low, high, unit and surprise of a trend's finding."""
    spread = max(trend.spread, before.spread) if before else trend.spread
    ratio = before.ratio if before else trend.rule.ratio
    band, expected = math.exp(4 * spread), _level(trend, before)
    z = abs(_effect(trend, before) * math.log(ratio)) / spread
    return {
        "expected": expected,
        "low": expected / band,
        "high": expected * band,
        "unit": CATALOGUE[name].unit,
        "surprise": min(300.0, z * z / 2 / math.log(10)),
    }
