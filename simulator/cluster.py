"""The whole cluster: air, GPUs, ports, hosts, jobs and faults, one second after the other."""

import numpy as np

from forewarn.records import NANOSECONDS, Event, Frame, InventoryItem
from simulator.announce import job_items, machines_items
from simulator.cooling import Air
from simulator.faults import FAULTS
from simulator.fleet import Floats, Machines
from simulator.frames import SOURCE, NodeFrames
from simulator.gpu import HW_SLOWDOWN, HW_THERMAL, Gpus
from simulator.host import Hosts
from simulator.instant import Instant
from simulator.job import JobRun
from simulator.load import Knobs, Load
from simulator.maintenance import Works
from simulator.nic import Ports
from simulator.nodes import Nodes
from simulator.report import StepReport
from simulator.reporter import JobFrames
from simulator.scenario import Fault, Scenario

INVENTORY_SECONDS = 600  # as the agent's default


class Cluster:
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
        self._maintenance = Works(
            scenario, machines, self._nodes, self._gpus, self._ports, self._hosts
        )

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
        events, inventory = self._maintenance.advance(second)
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

    def _readings(self) -> dict[str, Floats]:
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
