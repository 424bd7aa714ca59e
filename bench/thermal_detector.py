"""The family context as detect runs it, over the GPUs of bench/thermal_world.py."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.thermal_world import Second, World
from detector.families.context import Context
from detector.series import Series, Wave, measure
from detector.verdict.persistence import Persistence
from detector.verdict.tails import Tails
from forewarn.inventory import Inventory

Scores = NDArray[np.float32]
GPU = ("gpu_temperature_celsius", "gpu_power_watts", "gpu_clock_event_reasons")
NODE = ("node_fan_speed_ratio", "node_power_watts", "node_inlet_temperature_celsius")
NODE_PERIOD = 10


class Run(NamedTuple):
    """What was seen, [second, GPU] or [second, node]: readings, scores, the product's findings."""

    core: Scores
    watts: Scores
    heat: Scores  # the family's residual of temperature, in scales
    fans: Scores  # likewise of the fans, by node
    heat_found: NDArray[np.bool_]  # a finding is open
    fans_found: NDArray[np.bool_]  # likewise, by node


class Detector:
    """The family as detect runs it, on waves instead of frames."""

    def __init__(self, world: World) -> None:
        self._world, self._series = world, Series()
        self.context = Context(Tails(), self._series, Inventory(), lambda _block, _local: None)
        self._persistence = Persistence()
        machines = world.machines
        pairs = [(name, own) for name in GPU for own in machines.gpus]
        self._gpus = len(pairs)
        pairs += [(name, own) for name in NODE for own in machines.nodes]
        self._series.place(pairs)
        self._block = self._series.blocks[0]
        self.open = self._persistence.of(self._block).open

    def second(self, second: int, seen: Second) -> Scores:
        """Take one second; return the residual of every row in scales, 0 where there is none."""
        wave = self._wave(second, seen)
        if second % 60 == 0:
            self.context.learn(self._block)
        part = self.context.take(wave)
        z = np.zeros(self._block.used, np.float32)
        if part is None:
            return z
        score = self.context.score(part)
        judged = self._persistence.step(part, score)
        rows = np.asarray(part.rows)
        for at in np.flatnonzero(judged.begins):
            self._persistence.open(self._block, int(rows[at]), float(second))
        self.open[rows[judged.ends]] = False
        self.context.absorb(part, judged.frozen)
        z[rows] = np.where(score.ready, (part.values - score.expected) / score.spread, 0)
        return z

    def _wave(self, second: int, seen: Second) -> Wave:
        raw = np.concatenate([*(seen.gpu[name] for name in GPU),
                              *(seen.node[name] for name in NODE)])  # fmt: skip
        good = np.ones(len(raw), np.bool_)
        good[self._gpus :] = second % NODE_PERIOD == 0
        time = np.full(len(raw), 1e9 + second)
        return measure(self._block, slice(0, len(raw)), raw, good, time, ~good)


def watch(world: World) -> Run:
    """Run the world through the family and keep what the other methods need."""
    count, nodes = len(world.machines.gpus), len(world.machines.nodes)
    core, watts, heat = (np.zeros((world.seconds, count), np.float32) for _ in range(3))
    fans = np.zeros((world.seconds, nodes), np.float32)
    heat_found, fans_found = np.zeros(core.shape, np.bool_), np.zeros(fans.shape, np.bool_)
    own, by_gpu = Detector(world), slice(0, count)
    by_node = slice(len(GPU) * count, len(GPU) * count + nodes)
    for second in range(world.seconds):
        seen = world.second(second)
        core[second], watts[second] = seen.gpu[GPU[0]], seen.gpu["gpu_power_watts"]
        z = own.second(second, seen)
        heat[second] = z[by_gpu]
        fans[second] = z[by_node] if second % NODE_PERIOD == 0 else fans[second - 1]
        heat_found[second], fans_found[second] = own.open[by_gpu], own.open[by_node]
    return Run(core, watts, heat, fans, heat_found, fans_found)
