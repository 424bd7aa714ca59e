"""Family progress: what a training job says of itself, step by step.

NaN at once; a gradient norm that climbs before it; a loss that leaps; steps that got slower; no
step at all. Checkpoints, evaluations and restarts are known, the first steps are warm-up.
"""

import math
from bisect import insort
from collections import deque
from collections.abc import Callable
from statistics import median
from typing import Any, Literal

import msgspec

from detector.verdict.ledger import Key, Ledger, identity
from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE, Movement
from forewarn.records import NANOSECONDS, Finding, Severity, ValueClass

WARM_STEPS = 10
MEMORY_STEPS = 200  # steps behind the expectation
DRIFT, DECIDE = 0.5, 8.0  # CUSUM in spreads: slack and threshold (delay about 8 / (shift - 0.5))
LEAST_SPREAD = 0.01  # of log values: nobody's steps are steadier than 1 %
CONFIRM_STEPS = 3  # facts: >= 5-10 % median ratio over >= 3 steps takes false alarms to 0
LOSS_LEAP = 0.3  # log; and 8 spreads
HANG_STEPS, HANG_SECONDS = 10.0, 60.0  # no step for ten usual steps, and a minute
PAUSE_SECONDS = 1800.0  # a checkpoint or evaluation that lasts longer is no excuse any more
QUIET_STEPS = 20  # calm steps that close a finding
WORD_SECONDS = 5.0  # a job that tells its age each second and skips so much has no word on the bus
Reached = Callable[[str, str], tuple[float, float]]
Change = Literal["step_up", "step_down", "grows", "spike"]


class Rule(msgspec.Struct, frozen=True):
    """How one signal of a job is watched: which way is bad and how much of a change matters."""

    movement: Movement
    ratio: float  # effect floor: median of the latest steps over the expected one
    confirm: int = CONFIRM_STEPS
    severity: Severity = "major"


RULES: dict[str, Rule] = {
    "job_gradient_norm": Rule("grows", 2.0, 5),
    "job_loss": Rule("spike", math.exp(LOSS_LEAP), 1),
    "job_step_seconds": Rule("step_up", 1.10),
    "job_tokens_per_second": Rule("step_down", 1 / 1.10),
    "job_mfu_ratio": Rule("step_down", 1 / 1.10),
}
WATCHED = frozenset({*RULES, "job_last_step_age_seconds"})
NAN_CODES = {"job_loss": "job.nan:loss", "job_gradient_norm": "job.nan:gradient_norm"}


class Trend:
    """One positive signal in logs: expectation, spread, one-sided CUSUM, confirmation."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.sign = 1.0 if rule.ratio > 1 else -1.0
        self._past: deque[float] = deque(maxlen=MEMORY_STEPS)
        self._sorted: list[float] = []  # the same; what is nearly in order is sorted in no time
        self._latest: deque[float] = deque(maxlen=2 * rule.confirm - 1)
        self._sum = 0.0
        self._calm = 0
        self._centre = 0.0
        self.spread = LEAST_SPREAD

    @property
    def expected(self) -> float:
        """Return the expected value (the signal's unit)."""
        return math.exp(self._centre)

    @property
    def ready(self) -> bool:
        """Say whether enough steps were seen."""
        return len(self._past) >= WARM_STEPS

    def effect(self) -> float:
        """Return the median of the latest steps, as a signed distance in effect floors."""
        away = median(self._latest) - self._centre
        return away / abs(math.log(self.rule.ratio))

    def push(self, value: float) -> bool:
        """Take one value > 0; return whether the change is confirmed by now."""
        log = math.log(value)
        self._latest.append(log)
        if not self.ready:
            self._learn(log)
            return False
        z = self.sign * (log - self._centre) / self.spread
        self._sum = max(0.0, self._sum + min(z, 2 * DECIDE) - DRIFT)
        self._calm = self._calm + 1 if z < 3 else 0
        if self._sum == 0.0 or (self._calm and self._sum < DECIDE):
            self._learn(log)
        return self._sum >= DECIDE and self._confirmed()

    def _confirmed(self) -> bool:
        """Say whether most of the latest steps, so at least `confirm`, are beyond the floor."""
        away = self.sign * (median(self._latest) - self._centre)
        full = len(self._latest) == self._latest.maxlen
        return full and away >= abs(math.log(self.rule.ratio))

    def _learn(self, log: float) -> None:
        """Take the value into the expectation, clipped at four spreads once there is one."""
        if len(self._past) >= WARM_STEPS:
            bound = 4 * self.spread
            log = min(max(log, self._centre - bound), self._centre + bound)
        if len(self._past) == self._past.maxlen:
            self._sorted.remove(self._past[0])
        self._past.append(log)
        insort(self._sorted, log)
        self._centre = median(self._sorted)
        deviation = median([abs(x - self._centre) for x in self._sorted])
        self.spread = max(LEAST_SPREAD, 1.4826 * deviation)

    def calm(self) -> bool:
        """Say whether the change is over."""
        return self._calm >= QUIET_STEPS

    def restart(self) -> None:
        """Begin anew: after a restart of the job the expectation is learned again."""
        self.__init__(self.rule)  # type: ignore[misc]


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
        self.nan_since: dict[str, float] = {}


class Progress:
    """The watcher of jobs."""

    def __init__(self, cluster: str, ledger: Ledger) -> None:
        self._cluster, self._ledger = cluster, ledger
        self._jobs: dict[str, _Job] = {}

    def on_state(self, entity: str, state: str, seconds: float) -> list[Finding]:
        """Take a job.state code: phases and restarts excuse what they explain."""
        job = self._jobs.setdefault(entity, _Job())
        if state.endswith("_begin"):
            job.paused_until = seconds + PAUSE_SECONDS
        elif state.endswith("_end"):
            job.paused_until = seconds
            job.last_step = max(seconds, job.last_step)  # NaN, no step yet, does not win
        elif state in {"running", "restarted"}:
            self._jobs[entity] = _Job()
        else:  # completed, failed, cancelled …: nothing is expected of it any more
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
            self._trend(job, entity, name, values[name], seconds)
            for name in RULES
            if 0 < values.get(name, math.nan) < math.inf
        ]
        if values.get("job_step_seconds", math.nan) > 0:
            job.step_seconds.append(values["job_step_seconds"])
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
        for entity, job in self._jobs.items():
            if not seconds - job.last_step > HANG_SECONDS and not self._hangs(entity):
                continue
            now = min(seconds, self._clock(job, entity, reached) if reached else seconds)
            out.append(self._hang(job, entity, now - job.late - job.last_step, now))
        return [finding for finding in out if finding is not None]

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
        self, job: _Job, entity: str, name: str, value: float, seconds: float
    ) -> Finding | None:
        trend, key = job.trends[name], (entity, name, "progress")
        if name not in {"job_gradient_norm", "job_loss"} and self._paused(job, seconds):
            return None
        wrong = trend.push(value)
        open_now = self._ledger.get(key) is not None
        if open_now and trend.calm():
            return self._ledger.close(key, seconds)
        if not wrong:
            return None
        changes: dict[str, Any] = {"observed": value, "effect": trend.effect()}
        if open_now:
            return self._ledger.update(key, seconds, **changes)
        if self._ledger.cooling(key, seconds):
            return None
        return self._open(key, entity, name, trend.rule.movement, seconds, {
            **changes, **_expectation(trend, name), "severity": trend.rule.severity,
            "text": f"{name} of {entity} is {value:.4g}, expected {trend.expected:.4g}",
        })  # fmt: skip

    def _hang(self, job: _Job, entity: str, age: float, seconds: float) -> Finding | None:
        key: Key = (entity, "job_last_step_age_seconds", "progress")
        if len(job.step_seconds) < WARM_STEPS:
            return None
        usual = median(job.step_seconds)
        limit = max(HANG_SECONDS, HANG_STEPS * usual)
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


def _expectation(trend: Trend, name: str) -> dict[str, Any]:
    """Return expected, low, high, unit and surprise of a trend's finding."""
    band = math.exp(4 * trend.spread)
    z = abs(trend.effect() * math.log(trend.rule.ratio)) / trend.spread
    return {
        "expected": trend.expected,
        "low": trend.expected / band,
        "high": trend.expected * band,
        "unit": CATALOGUE[name].unit,
        "surprise": min(300.0, z * z / 2 / math.log(10)),
    }
