"""The whole cluster, second by second: machines, what cools and powers them, jobs, faults."""

import numpy as np

from forewarn.records import NANOSECONDS, Event, Frame, InventoryItem
from simulator.announce import Announcer, job_items
from simulator.boots import Boots
from simulator.coolant import Coolant
from simulator.cooling import Air
from simulator.faults import FAULTS
from simulator.fleet import Floats, Machines
from simulator.frames import NodeFrames
from simulator.gateways import Gateways
from simulator.gpu import Gpus
from simulator.happenings import Happenings
from simulator.host import Hosts
from simulator.instant import Instant
from simulator.job import JobRun
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.maintenance import Works
from simulator.nic import Ports
from simulator.nodes import Nodes
from simulator.outages import Outages
from simulator.pace import Strain, pace
from simulator.places import places
from simulator.plant import FABRIC, NAMES, POWER, STORAGE, Plant
from simulator.power import Power
from simulator.report import PhaseChange, Said, StepReport
from simulator.reporter import JobFrames
from simulator.scenario import LiquidCooling, Scenario
from simulator.seeds import generator
from simulator.storage import Storages
from simulator.switches import Switches
from simulator.troubles import Troubles

INVENTORY_SECONDS = 600  # as the agent's default
PLACED = frozenset({"running", "restarted"})
REMOVED = frozenset({"completed", "failed", "node_fail", "preempted"})


class Cluster:
    """All state of a running simulation."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        machines = self._machines = Machines(scenario.fleet, scenario.period_seconds)
        self._build(scenario, machines, seed)
        sigma = scenario.imperfection.clock_sigma_seconds
        self._clocks = generator(seed, "clocks").normal(0.0, 1.0, len(machines.nodes)) * sigma
        start = scenario.start_unix_nano
        self._nodes = Nodes(machines.names, start, seed)
        self._gateway_nodes = Nodes(NAMES, start, seed, "gateways")
        self._frames = NodeFrames(machines, scenario.imperfection, seed)
        self._plant = Plant(machines, self._switches.entities())
        self._gateways = Gateways(self._plant, self._gateway_nodes, scenario.imperfection, seed)
        self._announcer = Announcer(machines, scenario.cluster)
        self._happenings = Happenings(machines, scenario.cluster, self._nodes, self._gateway_nodes)
        self._runs = [JobRun(job, machines, seed) for job in scenario.job]
        self._reporters = [JobFrames(run, machines, scenario.cluster) for run in self._runs]
        where = places(machines, scenario.job)
        self._faults = [
            (FAULTS[own.mode], own, where[FAULTS[own.mode].entity_kind][own.entity])
            for own in scenario.fault
        ]
        boots = Boots(machines, self._nodes, self._gpus, self._ports, self._hosts, self._announcer)
        self._maintenance = Works(scenario, machines, self._nodes, boots)
        self._outages = Outages(machines, scenario.cluster, self._nodes, boots)

    def _build(self, scenario: Scenario, machines: Machines, seed: int) -> None:
        cooling = scenario.fleet.cooling
        self._air = Air(machines, cooling, seed)
        self._coolant: Coolant | None = None
        if isinstance(cooling, LiquidCooling):
            self._coolant = Coolant(machines, cooling, seed)
        self._gpus = Gpus(machines, self._around(), seed)
        self._ports = Ports(machines, seed)
        self._hosts = Hosts(machines, seed, scenario.fleet.raw_meters)
        self._storages, self._switches = Storages(machines, seed), Switches(machines, seed)
        self._power = Power(machines, seed)
        self._troubles, self._load = Troubles(machines), Load(machines)
        self._knobs = Knobs(machines, tuple(job.name for job in scenario.job))

    def _around(self) -> Floats:
        return self._coolant.at_gpus() if self._coolant else self._air.at_gpus()

    def advance(self, second: int) -> Instant:
        """Simulate from `second` to the next reading and return what was sent in it."""
        cluster = self._scenario.cluster
        job_frames: list[Frame] = []
        events, inventory = self._maintenance.advance(second)
        if second % (INVENTORY_SECONDS * self._machines.beat) == 0:
            inventory += self._inventory(second)
        self._turn_knobs(second)
        said, announced = self._outages.advance(second, self._knobs)
        events += said
        inventory += announced
        events += self._tell(second)
        self._work(second, job_frames, events, inventory)
        self._physics()
        events += self._happenings.events(
            second, self._gpus, self._ports, self._switches, self._power, self._knobs
        )
        self._frames.fill(self._readings())
        self._nodes.offset = self._hosts.clock() + self._clocks
        silent = self._gpus.lost | (self._knobs.silent + self._knobs.missing > 0)
        frames = self._frames.frames(cluster, second, self._nodes, silent, self._knobs.mute > 0)
        return Instant(
            time_unix_nano=self._scenario.start_unix_nano + second * NANOSECONDS,
            frames=frames + self._plant_frames(second),
            job_frames=sorted(job_frames, key=lambda frame: frame.time_unix_nano),
            events=sorted(events, key=lambda event: event.time_unix_nano),
            inventory=inventory,
        )

    def _turn_knobs(self, second: int) -> None:
        self._knobs.clear()
        for mode, fault, index in self._faults:
            mode.act(fault, index, float(second), self._knobs)

    def _work(
        self,
        second: int,
        frames: list[Frame],
        events: list[Event],
        inventory: list[InventoryItem],
    ) -> None:
        self._load.clear()
        self._pace = pace(
            self._machines, self._gpus, self._ports, self._hosts, self._storages, self._knobs
        )
        for number, (run, reporter) in enumerate(zip(self._runs, self._reporters, strict=True)):
            if not run.is_due(second):
                continue
            for said in self._say(run, number, float(second)):
                if isinstance(said, StepReport):
                    frames += reporter.frames(said, self._nodes, self._knobs.mute > 0)
                    continue
                events.append(reporter.event(said, self._nodes))
                if isinstance(said, PhaseChange) and said.state in PLACED | REMOVED:
                    inventory += self._place(run, second, removed=said.state in REMOVED)

    def _say(self, run: JobRun, number: int, second: float) -> list[Said]:
        """Let a job go on for a second, unless what it runs on broke."""
        out = self._troubles.says(run, number, second, self._knobs)
        if run.state == "failed" and self._unfit(run):
            run.postpone(second + 1.0)
        gradient = self._knobs.gradient[run.job.name]
        knobs = self._knobs
        hangs = bool(knobs.stuck[number] or knobs.hanging[run.nodes].any())
        strain = Strain(float(knobs.starved[number]), float(knobs.slower[number]), hangs)
        return out + run.advance(second, self._pace, gradient, self._load, strain)

    def _unfit(self, run: JobRun) -> bool:
        """Say whether the scheduler cannot start a job: a GPU is gone, a port has no link."""
        knobs = self._knobs
        gone = knobs.lost + knobs.silent + knobs.missing + self._ports.down
        return bool(gone[run.gpus].any() or knobs.down[run.nodes].any())

    def _tell(self, second: int) -> list[Event]:
        """Return the events that faults of jobs and ranks make."""
        out = []
        for what in self._knobs.told:
            for number, run in enumerate(self._runs):
                own = what.kind == "job" and what.index == number
                own |= what.kind == "rank" and bool((run.gpus == what.index).any())
                if own and run.state == "running":
                    out.append(self._reporters[number].told(what, float(second), self._nodes))
        return out

    def _place(self, run: JobRun, second: int, removed: bool) -> list[InventoryItem]:
        now = self._nodes.clock(run.nodes[0], second)
        return job_items(run, self._machines, self._scenario.cluster, now, removed)

    def _inventory(self, second: int) -> list[InventoryItem]:
        out = self._announcer.nodes(self._nodes.clock(0, second))
        out += self._plant.items(self._scenario.cluster, self._gateway_nodes.clock(0, second))
        for run in self._runs:
            if run.state == "running":
                out += self._place(run, second, removed=False)
        return out

    def _physics(self) -> None:
        load, knobs = self._load, self._knobs
        self._air.advance(knobs)
        plate = self._machines.spread(self._hosts.airflow())
        if self._coolant is not None:
            self._coolant.advance(self._gpus.watts, knobs)
            plate = self._coolant.plate()
        self._gpus.advance(load, self._around(), knobs, plate, self._power.braked())
        self._ports.advance(load, knobs)
        self._switches.advance(load, knobs)
        self._storages.advance(load, knobs)
        self._hosts.advance(load, knobs)
        self._hosts.blow(self._air.at_nodes(), self._machines.hottest(self._gpus.celsius))
        self._troubles.look(self._hosts)
        self._power.advance(self._hosts.watts(), knobs)
        self._air.return_heat(self._hosts.watts())

    def _readings(self) -> dict[str, Floats]:
        watts = self._machines.total(self._gpus.watts)
        lost = np.maximum(self._gpus.lost, self._knobs.missing).astype(float)
        return {
            **self._gpus.readings(self._load),
            **self._ports.readings(),
            **self._hosts.readings(self._load, watts, self._air.at_nodes(), lost),
            **self._storages.mounts(),
        }

    def _plant_frames(self, second: int) -> list[Frame]:
        due = self._gateways.due(second)
        if not due:
            return []
        out: list[Frame] = []
        for own in due:
            out += self._gateways.frames(
                self._scenario.cluster, second, own, self._plant_readings(own)
            )
        return out

    def _plant_readings(self, own: int) -> dict[str, Floats]:
        if own == POWER:
            return self._power.readings()
        if own == FABRIC:
            return self._switches.readings()
        if own == STORAGE:
            return self._storages.targets()
        coolant = self._coolant.readings() if self._coolant else {}
        return {**self._air.readings(self._hosts.watts()), **coolant}
