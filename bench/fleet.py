"""Frames of a synthetic fleet: the layout of an 8-GPU node, values that wander, all in memory."""

from collections.abc import Iterator

import numpy as np

from forewarn import wire
from forewarn.bus import Message
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.records import NANOSECONDS, Frame, InventoryItem, Layout, Placement

START = 1_767_600_000


def _quiet(kind: str, count: int) -> tuple[str, ...]:
    """Return signals that no fixed limit stops, so that a level is a level."""
    own = (s for s in CATALOGUE.values() if s.entity == kind and s.kind in {"gauge", "counter"})
    return tuple(s.name for s in own if s.floor is None and s.bad != "nonzero")[:count]


GPU, NODE = ("gpu_temperature_celsius", *_quiet("gpu", 25)), _quiet("node", 16)
BOOT = "b0000000-0000-4000-8000-000000000000"


def layout(node: str) -> Layout:
    """Return the layout of one node: 8 GPUs of 26 signals, 16 signals of the host."""
    entities = [f"node/{node}", *(f"node/{node}/gpu/0000:{slot:02x}:00.0" for slot in range(8))]
    pairs = [(name, 0) for name in NODE]
    pairs += [(name, 1 + slot) for slot in range(8) for name in GPU]
    names = tuple(dict.fromkeys(name for name, _ in pairs))
    index = tuple(names.index(name) for name, _ in pairs)
    return Layout(names, tuple(entities), index, tuple(entity for _, entity in pairs))


class Fleet:
    """`nodes` agents at 1 Hz; `tick(second)` gives their messages."""

    def __init__(self, nodes: int, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self.names = [f"n{number:05d}" for number in range(nodes)]
        self._layouts = [wire.encode_layout(layout(name)) for name in self.names]
        self.width = len(layout("n"))
        self._level = self._random.uniform(10, 100, self.width)
        kinds = [CATALOGUE[name].kind for name, _ in layout("n").pairs()]
        for at, (name, _) in enumerate(layout("n").pairs()):
            if name.endswith("limit_celsius"):
                self._level[at] = 1000.0
        self._counter = np.array([kind is Kind.COUNTER for kind in kinds])

    def inventory(self, per_job: int) -> list[Message]:
        """Return racks of 8 nodes, and jobs of `per_job` nodes with a rank on every GPU."""
        at = START * NANOSECONDS
        items = []
        for number, name in enumerate(self.names):
            rack = {"rack": f"r{number // 8}", "model": "bench-8"}
            items.append(InventoryItem("bench", f"node/{name}", at, rack))
            for slot in range(8):
                rank, job = number % per_job * 8 + slot, f"job{number // per_job}"
                gpu = f"node/{name}/gpu/0000:{slot:02x}:00.0"
                place = Placement(job, rank, name, (gpu,))
                entity = f"job/{job}/rank/{rank}"
                items.append(InventoryItem("bench", entity, at, placement=place))
        return [Message("inventory", i.entity, wire.encode_inventory(i), 0, 0, at) for i in items]

    def frames(self, second: int) -> Iterator[Frame]:
        """Give one frame a node: levels with 1 % of noise, counters that stand still."""
        shape = (len(self.names), self.width)
        noise = np.where(self._counter, 0.0, self._random.normal(0.0, 0.01, shape))
        values = np.where(self._counter, 7.0, self._level * (1 + noise))
        at = (START + second) * NANOSECONDS
        for number, name in enumerate(self.names):
            yield Frame("bench", name, "agent", second, at, BOOT, self._layouts[number],
                        values[number].tobytes())  # fmt: skip

    def tick(self, second: int) -> list[Message]:
        """Return the messages of one second, as a consumer would see them."""
        appended = (START + second) * NANOSECONDS + 50_000_000
        return [
            Message("frames", frame.node, wire.encode_frame(frame), 0, 0, appended)
            for frame in self.frames(second)
        ]
