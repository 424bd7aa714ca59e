"""One step of a job: when each rank waits for data, computes, waits for the others, exchanges."""

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.pace import Pace, Strain
from simulator.scenario import Job

# Step to step, a healthy rank's compute time varies by 0.5 to 1 % and ranks differ by 0.3 %
# (ByteDance straggler traces, job AR, Apache-2.0: ranks 1 to 15).
COMPUTE_NOISE, EXCHANGE_NOISE = 0.006, 0.04
DATA_SECONDS, DATA_NOISE = 0.008, 0.3
COPY_SHARE = 0.5  # of the ordinary data time is copying over PCIe
# Waiting for data varies from step to step, on all ranks alike, and a little between them.
STARVED_NOISE, STARVED_SPREAD = 0.1, 0.02


class Ranks:
    """How the ranks of a job are laid out, as Megatron-LM does: tensor, data, pipeline."""

    def __init__(self, job: Job, machines: Machines) -> None:
        self.nodes = [machines.node(name) for name in job.nodes]
        width = machines.width
        self.gpus = np.concatenate([np.arange(n * width, (n + 1) * width) for n in self.nodes])
        rank = np.arange(len(self.gpus))
        self.stage = rank * job.pipeline // len(rank)
        self.tensor = rank % job.tensor
        last = self.stage == job.pipeline - 1
        self.work = np.where(last, job.last_stage_load, 1.0)


class Step:
    """One step under way, in seconds since the start of the run; arrays are by rank.

    `slow` says how many times less its exchange moves in a second: its bytes stay the same.
    """

    def __init__(
        self, start: float, data: Floats, compute: Floats, exchange: float, slow: float = 1.0
    ) -> None:
        self.data, self.compute, self.slow = data, compute, slow
        self.computing = start + data
        self.waiting = self.computing + compute
        self.exchanging = float(self.waiting.max())
        self.end = self.exchanging + exchange

    def hold(self, second: float, beat: float = 1.0) -> None:
        """Let the step stand still for the beat from `second`: nobody can exchange."""
        self.end += beat
        after = second if second >= self.exchanging else self.exchanging
        self.exchanging = after + beat


class Planner:
    """Plans the steps of one job."""

    def __init__(self, job: Job, ranks: Ranks, noise: np.random.Generator) -> None:
        self._job, self._ranks, self._noise = job, ranks, noise

    def plan(self, start: float, pace: Pace, strain: Strain) -> Step:
        """Return a step from `start`."""
        job, gpus, noise = self._job, self._ranks.gpus, self._noise
        data = self._data(pace, strain.starved)
        nominal = job.step_seconds * (1.0 - job.exchange_ratio) * self._ranks.work
        nominal = nominal * (1.0 + strain.slower)
        varied = noise.normal(1.0, COMPUTE_NOISE, len(gpus)).clip(0.95, 1.2)
        slow = float(pace.exchange[gpus].max())
        exchange = job.step_seconds * job.exchange_ratio * slow
        exchange *= abs(noise.normal(1.0, EXCHANGE_NOISE))
        compute = nominal / pace.speed[gpus] * varied
        return Step(start, data, compute, exchange + pace.stalled[gpus].max(), slow)

    def _data(self, pace: Pace, starved: float) -> Floats:
        gpus, noise = self._ranks.gpus, self._noise
        ordinary = DATA_SECONDS * noise.lognormal(0.0, DATA_NOISE, len(gpus))
        ordinary *= 1.0 + COPY_SHARE * (pace.copy[gpus] - 1.0)
        more = (pace.data[gpus] + starved) * self._job.step_seconds
        more *= noise.lognormal(0.0, STARVED_NOISE)
        data: Floats = ordinary + more * noise.lognormal(0.0, STARVED_SPREAD, len(gpus))
        return data
