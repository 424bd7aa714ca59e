"""A synchronous training job: phases on a time line, steps as long as the slowest rank.

A rank waits for data, computes, then waits for the others; when the slowest has computed, all
exchange. What is not computing or data is communication time, so ranks beside a slow one report
more of it.
"""

import math

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.load import Gradient, Load
from simulator.nic import Ports
from simulator.phases import COMPUTE, DATA, DEMANDS, EXCHANGE, MEMORY_USED, WAIT, Demand, PhaseName
from simulator.report import PhaseChange, StepReport
from simulator.scenario import Job
from simulator.seeds import generator
from simulator.training import Curve

# Step to step, a healthy rank's compute time varies by 0.5 to 1 % and ranks differ by 0.3 %
# (ByteDance straggler traces, job AR, Apache-2.0: ranks 1 to 15).
COMPUTE_NOISE, EXCHANGE_NOISE = 0.006, 0.04
DATA_SECONDS = 0.008
EVENTS: dict[PhaseName, tuple[str, str]] = {
    "checkpoint": ("checkpoint_begin", "checkpoint_end"),
    "evaluation": ("evaluation_begin", "evaluation_end"),
}


class _Step:
    """One step under way: when each rank does what, seconds since the start of the run."""

    def __init__(self, start: float, data: Floats, compute: Floats, exchange: float) -> None:
        self.data, self.compute = data, compute
        self.computing = start + data
        self.waiting = self.computing + compute
        self.exchanging = float(self.waiting.max())
        self.end = self.exchanging + exchange


class JobRun:
    """One job as it runs; `advance` goes on by one second and says what was reported in it."""

    def __init__(self, job: Job, machines: Machines, seed: int) -> None:
        self.job = job
        self.nodes = [machines.node(name) for name in job.nodes]
        width = machines.width
        self.gpus = np.concatenate([np.arange(n * width, (n + 1) * width) for n in self.nodes])
        self.ends = job.end_seconds or math.inf
        self._noise = generator(seed, f"job:{job.name}")
        self._curve = Curve(seed, job.name, job.first_step)
        self._phase: PhaseName = "loading"
        self._from, self._until = job.start_seconds, job.start_seconds + job.loading_seconds
        self._step: _Step | None = None
        self.steps = 0
        self._checkpoint: float | None = None
        self.state = "waiting"

    def advance(
        self, second: float, speed: Floats, ports: Ports, gradient: Gradient, load: Load
    ) -> list[StepReport | PhaseChange]:
        """Go on from `second` to the next; put the work into `load`.

        `speed` of all GPUs (1 is nominal) and the state of the ports hold for what starts now.
        """
        out: list[StepReport | PhaseChange] = []
        after = second + 1.0
        if self.state == "waiting" and self._from < after:
            self.state = "running"
            out.append(PhaseChange(self.job.name, "running", self._from, ""))
        while self.state == "running" and self._from < after:
            self._work(max(second, self._from), min(after, self._until), load)
            if self._until >= after:
                break
            out += self._finish(gradient)
            if self.state == "running":
                self._begin(speed[self.gpus], ports)
        return out

    def _finish(self, gradient: Gradient) -> list[StepReport | PhaseChange]:
        """Close the phase that ends at `_until` and choose the next one."""
        out: list[StepReport | PhaseChange] = []
        if self._step is not None:
            out.append(self._report(self._step, gradient))
        elif self._phase in EVENTS:
            out.append(PhaseChange(self.job.name, EVENTS[self._phase][1], self._until, self._phase))
        if self._phase == "checkpoint":
            self._checkpoint = self._until - self._from
        self._phase, self._from = self._next(), self._until
        if self._from >= self.ends:
            self.state = "completed"
            out.append(PhaseChange(self.job.name, "completed", self._from, ""))
        elif self._phase in EVENTS:
            out.append(PhaseChange(self.job.name, EVENTS[self._phase][0], self._from, self._phase))
        return out

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

    def _begin(self, speed: Floats, ports: Ports) -> None:
        self._step = None
        if self._phase == "step":
            self._step = self._plan_step(speed, ports)
            self._until = self._step.end
        else:
            nominal = getattr(self.job, f"{self._phase}_seconds")
            self._until = self._from + nominal * self._noise.normal(1.0, 0.03)

    def _plan_step(self, speed: Floats, ports: Ports) -> _Step:
        job, count = self.job, len(self.gpus)
        computing = job.step_seconds * (1.0 - job.exchange_ratio)
        data = DATA_SECONDS * self._noise.lognormal(0.0, 0.3, count)
        compute = computing / speed * self._noise.normal(1.0, COMPUTE_NOISE, count).clip(0.95, 1.2)
        exchange = job.step_seconds * job.exchange_ratio
        exchange *= abs(self._noise.normal(1.0, EXCHANGE_NOISE)) * ports.slowdown()[self.gpus].max()
        return _Step(self._from, data, compute, exchange + ports.stalled[self.gpus].max())

    def _report(self, step: _Step, gradient: Gradient) -> StepReport:
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
        """Add what is done from `start` to `end` (within one second) to the load."""
        load.allocated[self.gpus] = True
        load.memory_used[self.gpus] = MEMORY_USED[self._phase]
        if self._step is None:
            self._add(DEMANDS[self._phase], np.full(len(self.gpus), end - start), load)
            return
        step = self._step
        self._add(DATA, _overlap(start, end, self._from, step.computing), load)
        self._add(COMPUTE, _overlap(start, end, step.computing, step.waiting), load)
        self._add(WAIT, _overlap(start, end, step.waiting, step.exchanging), load)
        last = np.full(len(self.gpus), step.exchanging)
        self._add(EXCHANGE, _overlap(start, end, last, step.end), load)

    def _add(self, demand: Demand, share: Floats, load: Load) -> None:
        gpus = self.gpus
        load.busy[gpus] += demand.busy * share
        load.tensor[gpus] += demand.tensor * share
        load.memory[gpus] += demand.memory * share
        load.power[gpus] += demand.power * share
        load.pcie[gpus] += demand.pcie * share
        load.scale_up[gpus] += demand.scale_up * share
        load.network[gpus] += demand.network * share
        by_node = share.reshape(len(self.nodes), -1).mean(axis=1)
        load.cpu[self.nodes] += demand.cpu * by_node
        load.storage_read[self.nodes] += demand.read * by_node
        load.storage_write[self.nodes] += demand.write * by_node


def _overlap(start: float, end: float, first: Floats | float, last: Floats | float) -> Floats:
    """Return how much of [first, last] lies in [start, end], by rank."""
    share: Floats = np.maximum(np.minimum(end, last) - np.maximum(start, first), 0.0)
    return share
