"""Runs a scenario second by second and says what the agents of that cluster would have sent."""

from collections.abc import Iterator

import msgspec
import numpy as np

from forewarn.records import NANOSECONDS, Event, Frame, InventoryItem
from simulator.announce import job_items, machines_items
from simulator.cooling import Air
from simulator.faults import FAULTS
from simulator.fleet import Machines
from simulator.frames import SOURCE, NodeFrames
from simulator.gpu import HW_SLOWDOWN, HW_THERMAL, Gpus
from simulator.host import Hosts
from simulator.job import JobRun
from simulator.load import Knobs, Load
from simulator.nic import Ports
from simulator.nodes import Nodes
from simulator.report import StepReport
from simulator.reporter import JobFrames
from simulator.scenario import Fault, Scenario
from simulator.truth import Truth

INVENTORY_SECONDS = 600  # as the agent's default


class Instant(msgspec.Struct, frozen=True):
    """What was sent in one simulated second, each list in the order of time."""

    time_unix_nano: int
    frames: list[Frame]
    job_frames: list[Frame]
    events: list[Event]
    inventory: list[InventoryItem]


class Simulation:
    """A scenario with a seed; iterating it yields the same `Instant`s every time."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        machines = Machines(scenario.fleet)
        self.truth = tuple(_truth(fault, scenario, machines) for fault in scenario.fault)

    def __iter__(self) -> Iterator[Instant]:
        cluster = _Cluster(self.scenario, self.seed)
        for second in range(self.scenario.duration_seconds):
            yield cluster.advance(second)


def simulate(scenario: Scenario, seed: int) -> Simulation:
    """Return the simulation of a scenario; all of it is fixed by the seed."""
    return Simulation(scenario, seed)


def _truth(fault: Fault, scenario: Scenario, machines: Machines) -> Truth:
    mode, start = FAULTS[fault.mode], scenario.start_unix_nano
    end = start + round(fault.end_seconds * NANOSECONDS) if fault.end_seconds else None
    return Truth(
        mode=fault.mode,
        entity=fault.entity,
        onset_unix_nano=start + round(fault.onset_seconds * NANOSECONDS),
        end_unix_nano=end,
        d_prime=mode.d_prime(fault, scenario, machines),
        expected=mode.expected(fault),
        form=fault.form,
        severity=fault.severity,
    )


class _Cluster:
    """All state of a running simulation."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        machines = self._machines = Machines(scenario.fleet)
        self._air = Air(machines, scenario.fleet.cooling, seed)
        self._gpus = Gpus(machines, self._air.at_gpus(), seed)
        self._ports, self._hosts = Ports(machines, seed), Hosts(machines, seed)
        self._nodes = Nodes(machines, scenario.start_unix_nano, seed)
        self._frames = NodeFrames(machines, scenario.imperfection, seed)
        self._runs = [JobRun(job, machines, seed) for job in scenario.job]
        self._reporters = [JobFrames(run, machines, scenario.cluster) for run in self._runs]
        self._load = Load(machines)
        self._knobs = Knobs(machines, tuple(job.name for job in scenario.job))
        self._faults = [(fault, self._index(fault)) for fault in scenario.fault]
        self._slowed = self._gpus.slowed.copy()

    def _index(self, fault: Fault) -> int:
        """Return where a fault's entity stands in the arrays of its kind."""
        kind = FAULTS[fault.mode].entity_kind
        if kind == "job":
            return [reporter.entity for reporter in self._reporters].index(fault.entity)
        machines = self._machines
        return (machines.gpus if kind == "gpu" else machines.ports).index(fault.entity)

    def advance(self, second: int) -> Instant:
        """Simulate one second and return what was sent in it."""
        job_frames: list[Frame] = []
        events: list[Event] = []
        inventory = self._maintain(second)
        if second % INVENTORY_SECONDS == 0:
            inventory += self._inventory(second)
        self._turn_knobs(second)
        self._work(second, job_frames, events, inventory)
        self._physics()
        events += self._clock_events(second)
        self._frames.fill(self._readings())
        self._nodes.offset = self._hosts.offset
        return Instant(
            time_unix_nano=self._scenario.start_unix_nano + second * NANOSECONDS,
            frames=self._frames.frames(self._scenario.cluster, second, self._nodes),
            job_frames=sorted(job_frames, key=lambda frame: frame.time_unix_nano),
            events=sorted(events, key=lambda event: event.time_unix_nano),
            inventory=inventory,
        )

    def _turn_knobs(self, second: int) -> None:
        self._knobs.clear()
        for fault, index in self._faults:
            FAULTS[fault.mode].act(fault, index, float(second), self._knobs)

    def _work(
        self,
        second: int,
        frames: list[Frame],
        events: list[Event],
        inventory: list[InventoryItem],
    ) -> None:
        self._load.clear()
        speed = self._gpus.speed()
        for run, reporter in zip(self._runs, self._reporters, strict=True):
            gradient = self._knobs.gradient[run.job.name]
            for said in run.advance(float(second), speed, self._ports, gradient, self._load):
                if isinstance(said, StepReport):
                    frames += reporter.frames(said, self._nodes)
                    continue
                events.append(reporter.event(said, self._nodes))
                if said.state in {"running", "completed"}:
                    inventory += self._place(run, second, removed=said.state == "completed")

    def _place(self, run: JobRun, second: int, removed: bool) -> list[InventoryItem]:
        now = self._nodes.clock(run.nodes[0], second)
        return job_items(run, self._machines, self._scenario.cluster, now, removed)

    def _inventory(self, second: int) -> list[InventoryItem]:
        now = self._nodes.clock(0, second)
        out = machines_items(self._machines, self._scenario.cluster, now)
        for run in self._runs:
            if run.state == "running":
                out += self._place(run, second, removed=False)
        return out

    def _physics(self) -> None:
        self._air.advance()
        self._gpus.advance(self._load, self._air.at_gpus(), self._knobs)
        self._ports.advance(self._load, self._knobs)
        self._hosts.advance(self._load)

    def _readings(self) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
        watts = self._machines.total(self._gpus.watts)
        return {
            **self._gpus.readings(self._load),
            **self._ports.readings(),
            **self._hosts.readings(self._load, watts, self._air.at_nodes()),
        }

    def _clock_events(self, second: int) -> list[Event]:
        """Return an event for each GPU whose clocks the hardware has begun to hold down."""
        begun = np.flatnonzero(self._gpus.slowed & ~self._slowed)
        self._slowed = self._gpus.slowed.copy()
        return [self._clock_event(int(gpu), second) for gpu in begun]

    def _clock_event(self, gpu: int, second: int) -> Event:
        node = gpu // self._machines.width
        bits = HW_SLOWDOWN | HW_THERMAL
        return Event(
            cluster=self._scenario.cluster,
            entity=self._machines.gpus[gpu],
            code="gpu.clock_event:hw_thermal",
            time_unix_nano=self._nodes.clock(node, second),
            severity="major",
            text=f"GPU {gpu % self._machines.width}: clocks held down, reasons {bits:#x}",
            node=self._machines.names[node],
            source=SOURCE,
            boot_id=self._nodes.boot_id[node],
            seq=self._nodes.next_seq(node, f"{SOURCE}/events"),
        )

    def _maintain(self, second: int) -> list[InventoryItem]:
        """Do the planned work that falls on this second; return what nodes announce anew."""
        out: list[InventoryItem] = []
        for own in self._scenario.maintenance:
            node, begins = self._machines.node(own.node), int(own.at_seconds)
            ends = begins + int(own.down_seconds)
            if own.kind == "driver_reload" and second == begins:
                self._gpus.reload_driver(self._machines.gpus_of(node))
            elif own.kind == "reboot" and second == begins:
                self._nodes.go_down(node)
            elif own.kind == "reboot" and second == ends:
                out += self._reboot(node, second)
        return out

    def _reboot(self, node: int, second: int) -> list[InventoryItem]:
        where = self._machines.gpus_of(node)
        self._gpus.reload_driver(where)
        self._ports.reboot(where)
        self._hosts.reboot(node)
        self._nodes.come_up(node, second)
        now = self._nodes.clock(node, second)
        cluster = self._scenario.cluster
        return machines_items(self._machines, cluster, now, range(node, node + 1))
