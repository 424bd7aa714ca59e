"""Small scenarios, and what their frames say, read back through the wire's own decoder."""

from collections import defaultdict

import numpy as np

from forewarn import wire
from forewarn.records import Event, Frame, InventoryItem
from simulator import Scenario, Simulation
from simulator.faults import FAULTS
from simulator.scenario import (
    AirCooling,
    Cooling,
    Fault,
    Fleet,
    Imperfection,
    Job,
    LiquidCooling,
)

Series = dict[tuple[str, str], np.ndarray[tuple[int, int], np.dtype[np.float64]]]
PERFECT = Imperfection(failed_reading=0.0, missed_frame=0.0)


class Recorded:
    """Everything a simulation sent: series as rows of (seconds since the start, value)."""

    def __init__(self, simulation: Simulation) -> None:
        self.scenario, self.truth = simulation.scenario, simulation.truth
        self.events: list[Event] = []
        self.inventory: list[InventoryItem] = []
        frames: dict[bytes, list[Frame]] = defaultdict(list)
        for instant in simulation:
            self.events += instant.events
            self.inventory += instant.inventory
            for frame in (*instant.frames, *instant.job_frames):
                frames[frame.layout].append(frame)
        self.series: Series = self._join(frames)

    def _join(self, frames: dict[bytes, list[Frame]]) -> Series:
        """Join the columns of all layouts to one series a pair, in the order of time."""
        rows = defaultdict(list)
        for data, own in frames.items():
            layout = wire.decode_layout(data)
            for frame in own:
                wire.check_size(frame, len(layout))
            seconds = np.array([self.seconds(frame.time_unix_nano) for frame in own])
            values = np.array([np.frombuffer(frame.values, dtype="<f8") for frame in own])
            ok = np.array([list(frame.outcome or bytes(len(layout))) for frame in own]) == 0
            for place, pair in enumerate(layout.pairs()):
                column = np.column_stack([seconds, values[:, place]])
                rows[pair].append(column[ok[:, place]])
        joined = {pair: np.concatenate(parts) for pair, parts in rows.items()}
        return {pair: own[own[:, 0].argsort(kind="stable")] for pair, own in joined.items()}

    def seconds(self, time_unix_nano: int) -> float:
        """Return the time since the start of the run."""
        return (time_unix_nano - self.scenario.start_unix_nano) / 1e9

    def get(
        self, signal: str, entity: str, start: float = 0.0, end: float = float("inf")
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return the values of a series between two times."""
        rows = self.series[signal, entity]
        return rows[(rows[:, 0] >= start) & (rows[:, 0] < end), 1]

    def codes(self, namespace: str) -> list[tuple[float, str, str]]:
        """Return time, entity and code of the events of a namespace."""
        return [
            (self.seconds(event.time_unix_nano), event.entity, event.code)
            for event in self.events
            if event.code.startswith(namespace + ":")
        ]


def cooling_of(mode: str) -> Cooling:
    """Return a way of cooling in which a fault can happen."""
    return LiquidCooling(racks_per_loop=2) if FAULTS[mode].cooling == "liquid" else AirCooling()


def scenario_of(*faults: Fault, duration: int = 600, job: Job | None = None) -> Scenario:
    """Return two nodes of four GPUs with one job on both and nothing lost on the way."""
    own = job or Job(
        name="train", nodes=("n01", "n02"), step_seconds=2.0, checkpoint_every=80, first_step=9000
    )
    return Scenario(
        name="small",
        duration_seconds=duration,
        fleet=Fleet(nodes=2, gpus_per_node=4),
        imperfection=PERFECT,
        job=(own,),
        fault=faults,
    )
