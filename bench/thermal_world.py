"""GPUs that get hot as those of the simulator do, for a day: the data of bench/thermal.py.

Nodes in groups of four run jobs that begin, pause and end, with idle time between them. Fans follow
power and the hottest GPU, leakage grows with heat, hot devices slow down, the room swings.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.cooling import Air
from simulator.faults.thermal_paste import THERMAL_PASTE
from simulator.fleet import Floats, Machines
from simulator.gpu import Gpus
from simulator.host import Hosts
from simulator.job import JobRun
from simulator.knobs import Gradient, Knobs
from simulator.load import Load
from simulator.pace import Pace
from simulator.scenario import AirCooling, Fault, Fleet, Job

GROUP = 4  # nodes of one job
RISE = 0.18  # of the whole thermal resistance
FAULT_SECONDS, SLOT_SECONDS = 1200, 3600
LOADED_WATTS = 300.0


class Second(NamedTuple):
    """Readings of one second: by GPU, and by node."""

    gpu: dict[str, Floats]
    node: dict[str, Floats]


class World:
    """`nodes` machines of eight GPUs over `hours`; from `learning` hours on each GPU fails once."""

    def __init__(self, nodes: int, hours: float, learning: float, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.machines = Machines(Fleet(nodes=nodes))
        self.seconds, self._learning = int(hours * 3600), int(learning * 3600)
        self._air = Air(self.machines, AirCooling(swing_celsius=2.5, wander_celsius=0.5), seed)
        self._gpus = Gpus(self.machines, self._air.at_gpus(), seed)
        self._hosts, self._load = Hosts(self.machines, seed), Load(self.machines)
        self._knobs = Knobs(self.machines, ())
        self._runs = [JobRun(job, self.machines, seed) for job in self._jobs()]
        self.onset = self._onsets()
        hw = self.machines.models[0]
        rest = hw.silicon_kelvin_per_watt + hw.base_kelvin_per_watt + hw.sink_kelvin_per_watt
        self._severity = RISE * (1 + rest / hw.paste_kelvin_per_watt)

    def _jobs(self) -> list[Job]:
        """Fill the time of each group of nodes with jobs of many kinds."""
        found, names = [], self.machines.names
        for first in range(0, len(names), GROUP):
            at = float(self._random.uniform(0, 600))
            while at < self.seconds:
                length = float(self._random.uniform(1800, 4 * 3600))
                own = self._job(f"j{len(found)}", names[first : first + GROUP], at, length)
                found.append(own)
                at += length + float(self._random.choice([60.0, 300.0, 1200.0]))
        return found

    def _job(self, name: str, nodes: tuple[str, ...], start: float, length: float) -> Job:
        draw = self._random
        return Job(
            name=name, nodes=nodes, start_seconds=start, end_seconds=start + length,
            step_seconds=float(draw.choice([1.5, 2.4, 6.0, 18.0])),
            exchange_ratio=float(draw.uniform(0.08, 0.45)),
            checkpoint_every=int(draw.choice([0, 100, 400])),
            checkpoint_seconds=float(draw.uniform(8, 40)),
            evaluation_every=int(draw.choice([0, 0, 150])),
        )  # fmt: skip

    def _onsets(self) -> NDArray[np.int64]:
        """Say when each GPU fails, so that the faults of a node follow one another."""
        width, slots = self.machines.width, (self.seconds - self._learning) // SLOT_SECONDS
        if slots < width:
            raise ValueError(f"faults need {width} hours after those of learning, not {slots}")
        first = [self._random.permutation(slots)[:width] for _ in self.machines.names]
        jitter = self._random.integers(60, SLOT_SECONDS - FAULT_SECONDS - 900, len(first) * width)
        onsets: NDArray[np.int64] = self._learning + np.concatenate(first) * SLOT_SECONDS + jitter
        return onsets

    def second(self, second: int) -> Second:
        """Go on by one second."""
        self._knobs.clear()
        for index in np.flatnonzero((self.onset <= second) & (second < self.onset + FAULT_SECONDS)):
            fault = Fault(mode="thermal_paste", entity="", severity=self._severity,
                          onset_seconds=float(self.onset[index]))  # fmt: skip
            THERMAL_PASTE.act(fault, int(index), float(second), self._knobs)
        self._work(float(second))
        self._air.advance(self._knobs)
        inlet, spread = self._air.at_nodes(), self.machines.spread
        self._gpus.advance(self._load, self._air.at_gpus(), self._knobs,
                           spread(self._hosts.airflow()))  # fmt: skip
        self._hosts.advance(self._load, self._knobs)
        self._hosts.blow(inlet, self.machines.hottest(self._gpus.celsius))
        watts = self.machines.total(self._gpus.watts)
        node = self._hosts.readings(self._load, watts, inlet, np.zeros(len(watts)))
        return Second(self._gpus.readings(self._load), node)

    def _work(self, second: float) -> None:
        self._load.clear()
        count, nodes = len(self.machines.gpus), len(self.machines.nodes)
        zeros, ones = np.zeros(count), np.ones(count)
        allowed = Pace(speed=self._gpus.speed(), exchange=ones, copy=ones, data=zeros,
                       stalled=zeros, down=zeros > 0, storage=np.ones(nodes))  # fmt: skip
        for run in self._runs:
            if run.job.start_seconds <= second and run.state != "completed":
                run.advance(second, allowed, Gradient(), self._load)
