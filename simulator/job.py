"""A synchronous training job: phases on a time line, steps as long as the slowest rank.

A rank waits for data, computes, then waits for the others; when the slowest has computed, all
exchange. What is not computing or data is communication time, so ranks beside a slow one report
more of it. Without a link the exchange stands still; held up too long, or robbed of a device or a
process, the job fails and is started anew from its checkpoint once all its machines work.
"""

import math

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.knobs import Gradient
from simulator.load import Load
from simulator.pace import AT_REST, Pace, Strain
from simulator.phases import COMPUTE, DATA, DEMANDS, EXCHANGE, MEMORY_USED, WAIT, Demand, PhaseName
from simulator.report import LogLine, PhaseChange, Said, StepReport
from simulator.scenario import Job
from simulator.seeds import generator
from simulator.step import Planner, Ranks, Step
from simulator.training import Curve

WATCHDOG_SECONDS = 600.0  # of a collective (PyTorch's default)
RETRY_SECONDS = 15  # without a link, before the adapter gives up (timeout 18, 7 tries)
# What `phases` asks of links holds for an H100; others have links in proportion.
PORT_BYTES_PER_SECOND, LINK_BYTES_PER_SECOND, PCIE_BYTES_PER_SECOND = 50e9, 450e9, 64e9
STORAGE_PHASES = frozenset({"loading", "checkpoint"})
EVENTS: dict[PhaseName, tuple[str, str]] = {
    "checkpoint": ("checkpoint_begin", "checkpoint_end"),
    "evaluation": ("evaluation_begin", "evaluation_end"),
}


class JobRun:
    """One job as it runs; `advance` goes on by one beat and says what was reported in it."""

    def __init__(self, job: Job, machines: Machines, seed: int) -> None:
        self.job = job
        self.ranks = Ranks(job, machines)
        self.nodes, self.gpus = self.ranks.nodes, self.ranks.gpus
        whole = len(self.gpus) == self.gpus[-1] - self.gpus[0] + 1 and np.all(
            np.diff(self.gpus) == 1
        )
        self._where = slice(int(self.gpus[0]), int(self.gpus[-1]) + 1) if whole else self.gpus
        self.ends = job.end_seconds or math.inf
        self._restart = job.restart_seconds or math.inf
        self._preempt = job.preempt_seconds or math.inf
        self._noise = generator(seed, f"job:{job.name}")
        self._planner = Planner(job, self.ranks, self._noise)
        self._curve = Curve(seed, job.name, job.first_step)
        self._phase: PhaseName = "loading"
        self._from, self._until = job.start_seconds, job.start_seconds + job.loading_seconds
        self._step: Step | None = None
        self.steps = self._saved = 0
        self._checkpoint: float | None = None
        self._held, self._hung = 0, 0.0
        self.state = "waiting"
        self._beat = float(machines.beat)
        own, gpu = machines.of_gpus, self.gpus[0]  # all of one model
        self._port = float(own.port_bytes_per_second[gpu]) / PORT_BYTES_PER_SECOND
        self._link = float(own.scale_up_bytes_per_second[gpu]) / LINK_BYTES_PER_SECOND
        self._pcie = float(own.pcie_bytes_per_second[gpu]) / PCIE_BYTES_PER_SECOND

    def is_due(self, second: float) -> bool:
        """Say whether the job has anything to do in the beat from `second`."""
        return self.state != "completed" and self.job.start_seconds < second + self._beat

    def advance(
        self, second: float, pace: Pace, gradient: Gradient, load: Load, strain: Strain = AT_REST
    ) -> list[Said]:
        """Go on from `second` to the next; put the work into `load`.

        `pace` and `strain` hold for what starts now.
        """
        after = second + self._beat
        out = self._wake(after) + self._hold(second, pace, strain.stuck)
        while self.state == "running" and self._from < after:
            self._work(max(second, self._from), min(after, self._until), load)
            if self._until >= after:
                break
            out += self._finish(gradient)
            if self.state == "running":
                self._begin(pace, strain)
        return out

    def _wake(self, after: float) -> list[Said]:
        """Start a job that waited or failed, when it is due."""
        if self.state not in {"waiting", "failed"} or self._from >= after:
            return []
        state = "running" if self.state == "waiting" else "restarted"
        detail = "" if state == "running" else f"from the checkpoint at step {self._saved}"
        self.state = "running"
        return [PhaseChange(self.job.name, state, self._from, detail)]

    def _hold(self, second: float, pace: Pace, stuck: bool) -> list[Said]:
        """Stand still while a rank hangs, or a port has no link: then give up after a while."""
        if stuck and self._step is not None and self.state == "running":
            return self._hang(second)
        self._hung = 0.0
        down = np.flatnonzero(pace.down[self.gpus])
        if not len(down) or self.state != "running" or self._step is None:
            self._held = 0
            return []
        self._held += 1
        if self._held <= RETRY_SECONDS:
            self._step.hold(second)
            self._until = self._step.end
            return []
        text = "NET/IB: Got completion with error 12, opcode 0, len 0, vendor err 129"
        line = LogLine(self.job.name, int(down[0]), second, "nccl.error:ib_error_12", text)
        return [line, *self.fail(second, "communication error")]

    def _hang(self, second: float) -> list[Said]:
        """Stand still until the watchdog of the collectives ends the job."""
        self._hung += self._beat
        if self._step is None or self._hung <= WATCHDOG_SECONDS:
            if self._step is not None:
                self._step.hold(second, self._beat)
                self._until = self._step.end
            return []
        self._hung = 0.0
        text = "Watchdog caught collective operation timeout: WorkNCCL ran for 600000 milliseconds"
        line = LogLine(self.job.name, 0, second, "nccl.error:watchdog_timeout", text)
        return [line, *self.fail(second, "collective timeout")]

    def fail(self, second: float, why: str, state: str = "failed") -> list[Said]:
        """End the run for now; it is started anew later, from its last checkpoint.

        `state` is what the scheduler calls it.
        """
        if self.state != "running":
            return []
        self.state, self._phase, self._step, self._held = "failed", "loading", None, 0
        self.steps = self._saved
        self.postpone(second + self.job.requeue_seconds)
        return [PhaseChange(self.job.name, state, second, why)]

    def postpone(self, until: float) -> None:
        """Start a failed job not before `until`."""
        self._from = max(self._from, until)
        self._until = self._from + self.job.loading_seconds

    def _finish(self, gradient: Gradient) -> list[Said]:
        """Close the phase that ends at `_until` and choose the next one."""
        out: list[Said] = []
        if self._step is not None:
            out.append(self._report(self._step, gradient))
        elif self._phase in EVENTS:
            out.append(PhaseChange(self.job.name, EVENTS[self._phase][1], self._until, self._phase))
        if self._phase == "checkpoint":
            self._checkpoint, self._saved = self._until - self._from, self.steps
        self._phase, self._from = self._next(), self._until
        if self._from >= self.ends:
            self.state = "completed"
            out.append(PhaseChange(self.job.name, "completed", self._from, ""))
        elif self._from >= self._preempt:
            out.append(self._make_room())
        elif self._from >= self._restart:
            out.append(self._restart_now())
        elif self._phase in EVENTS:
            out.append(PhaseChange(self.job.name, EVENTS[self._phase][0], self._from, self._phase))
        return out

    def _restart_now(self) -> PhaseChange:
        """Begin anew from the last checkpoint, on purpose and once."""
        self._restart, self._phase, self.steps = math.inf, "loading", self._saved
        detail = f"on purpose, from the checkpoint at step {self._saved}"
        return PhaseChange(self.job.name, "restarted", self._from, detail)

    def _make_room(self) -> PhaseChange:
        """Leave the nodes to somebody else and wait, once; go on from the last checkpoint."""
        self._preempt, self._phase, self.steps = math.inf, "loading", self._saved
        self.state, at = "waiting", self._from
        self.postpone(self.job.resume_seconds)
        return PhaseChange(self.job.name, "preempted", at, "for a job of higher priority")

    def _next(self) -> PhaseName:
        job, done = self.job, self.steps
        if self._phase == "loading":
            return "compile"
        if self._phase == "step" and job.checkpoint_every and done % job.checkpoint_every == 0:
            return "checkpoint"
        before_evaluation = self._phase in {"step", "checkpoint"} and done
        if before_evaluation and job.evaluation_every and done % job.evaluation_every == 0:
            return "evaluation"
        return "step"

    def _begin(self, pace: Pace, strain: Strain) -> None:
        self._step = None
        if self._phase == "step":
            self._step = self._planner.plan(self._from, pace, strain)
            self._until = self._step.end
            return
        nominal = float(getattr(self.job, f"{self._phase}_seconds"))
        if self._phase in STORAGE_PHASES:
            slow = pace.writing if self._phase == "checkpoint" else pace.storage
            nominal *= float(slow[self.nodes].max())
        self._until = self._from + nominal * self._noise.normal(1.0, 0.03)

    def _report(self, step: Step, gradient: Gradient) -> StepReport:
        self.steps += 1
        loss, norm = self._curve.at(self.steps, gradient)
        total = step.end - self._from
        report = StepReport(
            job=self.job.name,
            seconds=step.end,
            step=self.steps,
            step_seconds=total,
            compute=step.compute,
            data=step.data,
            exchange=total - step.compute - step.data,
            loss=loss,
            gradient_norm=norm,
            checkpoint_seconds=self._checkpoint,
        )
        self._checkpoint = None
        return report

    def _work(self, start: float, end: float, load: Load) -> None:
        """Add what is done from `start` to `end` to the load of this beat, as a share of it."""
        load.allocated[self.gpus] = True
        load.memory_used[self.gpus] = MEMORY_USED[self._phase]
        if self._step is None:
            share = (end - start) / self._beat
            self._add(DEMANDS[self._phase], np.full(len(self.gpus), share), load)
            return
        step = self._step
        last = np.full(len(self.gpus), step.exchanging)
        parts: tuple[tuple[Demand, Floats | float, Floats | float, float], ...] = (
            (DATA, self._from, step.computing, 1.0),
            (COMPUTE, step.computing, step.waiting, 1.0),
            (WAIT, step.waiting, step.exchanging, 1.0),
            (EXCHANGE, last, step.end, step.slow),
        )
        for demand, first, until, slow in parts:
            own = self._share(start, end, first, until)
            if own.any():  # most beats hold one or two of the four
                self._add(demand, own, load, slow)

    def _share(
        self, start: float, end: float, first: Floats | float, last: Floats | float
    ) -> Floats:
        """Return how much of [first, last] lies in [start, end], by rank, as a share of a beat."""
        inside = np.minimum(end, last) - np.maximum(start, first)
        share: Floats = np.maximum(inside, 0.0) / self._beat
        return share

    def _add(self, demand: Demand, share: Floats, load: Load, slow: float = 1.0) -> None:
        draws = self.job.intensity_ratio if demand is COMPUTE else 1.0
        gpus = self._where
        load.busy[gpus] += demand.busy * share
        load.tensor[gpus] += demand.tensor * share
        load.memory[gpus] += demand.memory * share
        load.power[gpus] += demand.power * (share * draws)
        load.pcie[gpus] += self._pcie * demand.pcie / slow * share
        load.scale_up[gpus] += self._link * demand.scale_up / slow * share
        load.network[gpus] += self._port * demand.network / slow * share
        by_node = share.reshape(len(self.nodes), -1).mean(axis=1)
        load.cpu[self.nodes] += demand.cpu * by_node
        load.storage_read[self.nodes] += demand.read * by_node
        load.storage_write[self.nodes] += demand.write * by_node
