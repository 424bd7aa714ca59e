"""The jobs whose ranks report on this node: steps become frames, beginnings and ends events."""

import logging
import time
from collections.abc import Callable

from exporters.collector import Measurement
from exporters.job import signals
from exporters.job.lines import Close, Hello, LineError, Note, Span, Step
from exporters.outlet import Outlet
from exporters.pci import slot
from forewarn import codes
from forewarn import entity as entities
from forewarn.errors import EntityError
from forewarn.records import NANOSECONDS, Placement, Severity

logger = logging.getLogger(__name__)
GONE_SECONDS = 5.0  # a rank that is gone this long without a word has failed
MAX_RANKS = 4096  # of all jobs on the node: a bound on what a local process can make us hold
LINGER_SECONDS = 600.0  # placement of a job that ended still explains what follows
AHEAD_NANOSECONDS = NANOSECONDS
BEHIND_NANOSECONDS = 3600 * NANOSECONDS
SEVERITIES: dict[str, Severity] = {"failed": "major", "restarted": "minor"}


class Rank:
    """One rank as it reports."""

    def __init__(self, hello: Hello) -> None:
        self.hello = hello
        self.connected = True
        self.closed = False
        self.gone_at = 0.0


class Job:
    """One job: its ranks here, and what is counted over its life."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.entity = entities.path("job", name)
        self.source = f"{source}:{name}"
        self.ranks: dict[int, Rank] = {}
        self.bad_steps = 0
        self.skipped_steps = 0
        self.last_step_at: float | None = None
        self.ended_at: float | None = None
        self.failed = False

    def rank_entity(self, rank: int) -> str:
        """Return the entity of a rank."""
        return f"{self.entity}/rank/{rank}"


class Jobs:
    """Takes typed lines and sends what they mean; for one calling thread."""

    def __init__(
        self,
        node_entity: str,
        outlet: Outlet,
        clock: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
        source: str = "reporter",
    ) -> None:
        self._source = source
        self._node_entity, self._outlet = node_entity, outlet
        self._clock, self._monotonic = clock, monotonic
        self._jobs: dict[str, Job] = {}

    def hello(self, hello: Hello) -> None:
        """A rank connects, for the first time or again. Raises LineError if there are too many."""
        if not self._known(hello) and self._ranks() >= MAX_RANKS:
            raise LineError(f"more than {MAX_RANKS} ranks report on this node")
        job = self._jobs.setdefault(hello.job, Job(hello.job, self._source))
        before = job.ranks.get(hello.rank)
        fresh = before is None or before.hello.started_unix_nano != hello.started_unix_nano
        job.ranks[hello.rank] = Rank(hello)
        if hello.placed:
            self._place(job, hello)
        if hello.leader and fresh and not hello.resumed:
            again = before is not None and (job.failed or not before.closed)
            self._state(job, "restarted" if again else "running", hello.started_unix_nano)
        if fresh:
            job.ended_at, job.failed = None, False

    def _known(self, hello: Hello) -> bool:
        return hello.job in self._jobs and hello.rank in self._jobs[hello.job].ranks

    def _ranks(self) -> int:
        return sum(len(job.ranks) for job in self._jobs.values())

    def _of(self, hello: Hello) -> Job:
        """Return the job of a rank that has said hello. Raises LineError once it is forgotten."""
        if hello.job not in self._jobs:
            raise LineError(f"job {hello.job!r} has ended and is forgotten; say hello again")
        return self._jobs[hello.job]

    def _place(self, job: Job, hello: Hello) -> None:
        placement = Placement(
            job=hello.job,
            rank=hello.rank,
            node=self._outlet.node,
            devices=self._devices(hello),
            stage=hello.stage,
            tensor=hello.tensor,
            since_unix_nano=hello.started_unix_nano,
        )
        entity = job.rank_entity(hello.rank)
        known = {"world_size": hello.world_size, "parameters": hello.parameters}
        self._outlet.announcer.describe(entity, {k: str(v) for k, v in known.items() if v})
        self._outlet.announcer.place(entity, placement)

    def _devices(self, hello: Hello) -> tuple[str, ...]:
        """Return the devices that the rank named, else those that its process is seen to use."""
        if hello.devices:
            return tuple(self._device(device) for device in hello.devices)
        return self._outlet.announcer.devices_of(hello.pid)

    def _device(self, text: str) -> str:
        """Return the entity of a device given as entity, as `gpu/…`, or as PCI address."""
        try:
            if text.startswith("node/"):
                return entities.check(text)
            if "/" in text:
                return entities.check(f"{self._node_entity}/{text}")
        except EntityError as error:
            logger.warning("reporter: device %r is no entity: %s", text, error)
        return f"{self._node_entity}/gpu/{entities.name(slot(text))}"

    def step(self, hello: Hello, step: Step) -> None:
        """A step ended: one frame at once, with the job's signals if the rank is its leader.

        Raises LineError, as those below do, where the job is over and forgotten.
        """
        job = self._of(hello)
        rank = job.rank_entity(hello.rank)
        fields = signals.RANK_FIELDS if hello.placed else {}
        measurements = list(signals.of_fields(step, fields, rank))
        if hello.leader:
            measurements += self._of_job(job, step)
        self._send(job, hello, self._sane(step.time_unix_nano), measurements)

    def _of_job(self, job: Job, step: Step) -> list[Measurement]:
        job.last_step_at = self._monotonic()
        job.bad_steps += signals.bad_step(step)
        job.skipped_steps += step.skipped
        counters = (
            ("job_completed_steps_total", step.step),
            ("job_nan_steps_total", job.bad_steps),
            ("job_skipped_steps_total", job.skipped_steps),
        )
        return [
            *signals.of_fields(step, signals.JOB_FIELDS, job.entity),
            *signals.rates(step, job.entity),
            *(Measurement(signal, job.entity, float(value)) for signal, value in counters),
        ]

    def _send(
        self, job: Job, hello: Hello, time_unix_nano: int, measurements: list[Measurement]
    ) -> None:
        sound = [self._outlet.admission.sound(measurement) for measurement in measurements]
        self._outlet.show(f"{job.source}:{hello.rank}", sound)
        self._outlet.frame(job.source, time_unix_nano, sound, topic="jobs", key=job.name)

    def span(self, hello: Hello, span: Span) -> None:
        """The leader began or ended a checkpoint or an evaluation."""
        job = self._of(hello)
        if not hello.leader:
            return
        self._state(job, f"{span.what}_{span.edge}", span.time_unix_nano)
        if span.what == "checkpoint" and span.edge == "end":
            at = self._sane(span.time_unix_nano)
            seconds = Measurement("job_checkpoint_seconds", job.entity, span.seconds)
            self._send(job, hello, at, [seconds])

    def note(self, hello: Hello, note: Note) -> None:
        """A rank tells of something with a code. Raises ForewarnError for what is no code."""
        job = self._of(hello)
        code = codes.normal(note.code)
        at = self._sane(note.time_unix_nano)
        entity = job.rank_entity(hello.rank)
        self._outlet.event(entity, code, at, note.severity, note.text, job.source)

    def close(self, hello: Hello, close: Close) -> None:
        """A rank ends on purpose; the leader's word is the job's."""
        job = self._of(hello)
        job.ranks[hello.rank].closed = True
        if hello.leader:
            job.failed = close.state == "failed"
            self._state(job, close.state, close.time_unix_nano)
        self._end_if_over(job)

    def gone(self, hello: Hello) -> None:
        """A connection ended; without a word before it the rank has a short time to come back."""
        job = self._jobs.get(hello.job)
        rank = None if job is None else job.ranks.get(hello.rank)
        if rank is not None and rank.hello is hello:
            rank.connected = False
            rank.gone_at = self._monotonic()

    def lose(self, hello: Hello) -> None:
        """Hear no more of a rank; how it ended nobody said."""
        job = self._jobs[hello.job]
        job.ranks[hello.rank].closed = True
        self._end_if_over(job)

    def tend(self) -> None:
        """Once a second: tell the age of the last step, find ranks that died, forget old jobs."""
        now = self._monotonic()
        for job in list(self._jobs.values()):
            if job.ended_at is None:
                self._find_devices(job)
                self._find_dead(job, now)
                self._tell_age(job, now)
            elif now - job.ended_at > LINGER_SECONDS:
                self._forget(job)

    def _find_devices(self, job: Job) -> None:
        """A process opens its devices some time after it has said hello."""
        for rank in job.ranks.values():
            if not rank.hello.devices and self._outlet.announcer.devices_of(rank.hello.pid):
                self._place(job, rank.hello)

    def _find_dead(self, job: Job, now: float) -> None:
        dead = [
            number
            for number, rank in job.ranks.items()
            if not rank.connected and not rank.closed and now - rank.gone_at > GONE_SECONDS
        ]
        for number in dead:
            job.ranks[number].closed = True
            if not job.failed:
                job.failed = True
                text = f"rank {number} (pid {job.ranks[number].hello.pid}) went away without a word"
                self._state(job, "failed", self._clock(), text)
        self._end_if_over(job)

    def _tell_age(self, job: Job, now: float) -> None:
        leaders = [r.hello for r in job.ranks.values() if r.hello.leader and not r.closed]
        if leaders and job.last_step_at is not None:
            age = Measurement("job_last_step_age_seconds", job.entity, now - job.last_step_at)
            self._send(job, leaders[0], self._clock(), [age])

    def _end_if_over(self, job: Job) -> None:
        if job.ended_at is None and all(rank.closed for rank in job.ranks.values()):
            job.ended_at = self._monotonic()
            for number in job.ranks:
                self._outlet.latest.forget(f"{job.source}:{number}")

    def _forget(self, job: Job) -> None:
        for number in job.ranks:
            self._outlet.announcer.remove(job.rank_entity(number))
        self._outlet.announcer.remove(job.entity)
        del self._jobs[job.name]

    def _state(self, job: Job, state: str, time_unix_nano: int, text: str = "") -> None:
        self._outlet.event(
            job.entity, f"job.state:{state}", self._sane(time_unix_nano),
            SEVERITIES.get(state, "info"), text, job.source,
        )  # fmt: skip

    def _sane(self, time_unix_nano: int) -> int:
        """Return the reporter's time, or now where it is in the future or hours old."""
        now = self._clock()
        ahead = time_unix_nano - now
        return time_unix_nano if -BEHIND_NANOSECONDS <= ahead <= AHEAD_NANOSECONDS else now
