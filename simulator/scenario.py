"""The scenario: what the simulated cluster is, what runs on it and what goes wrong, as one file.

Frozen Structs only; `simulator.reading` reads them from TOML, `scenario.schema.json` beside this
module is their published schema.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec

Form = Literal["sudden", "gradual", "intermittent"]
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file: an unknown key in it is an error."""


class _Cooling(_Section, frozen=True, kw_only=True, tag_field="kind"):
    """What both ways of cooling have: room air at the rack inlets.

    It wanders slowly by `wander_celsius` (1 sigma) and swings by `swing_celsius` up and down in
    `swing_seconds`: a day, a season, or the cycle of a chiller. `recirculation_celsius` is what a
    node's inlet warms when all its neighbours in the rack draw their full power.
    """

    supply_celsius: Annotated[float, msgspec.Meta(ge=5, le=45)] = 24.0
    wander_celsius: Annotated[float, msgspec.Meta(ge=0, le=5)] = 0.4
    swing_celsius: Annotated[float, msgspec.Meta(ge=0, le=15)] = 0.0
    swing_seconds: Positive = 86400.0
    recirculation_celsius: Annotated[float, msgspec.Meta(ge=0, le=10)] = 0.0


class AirCooling(_Cooling, frozen=True, kw_only=True, tag="air"):
    """Room air takes the heat of the GPUs."""


class LiquidCooling(_Cooling, frozen=True, kw_only=True, tag="liquid"):
    """Coolant of a distribution unit takes the heat of the GPUs; room air that of the rest."""

    coolant_celsius: Annotated[float, msgspec.Meta(ge=10, le=50)] = 32.0
    racks_per_loop: Count = 4


Cooling = AirCooling | LiquidCooling


Model = Literal["h100-sxm", "h200-sxm", "a100-sxm", "b200-hgx"]


class ModelShare(_Section, frozen=True, kw_only=True):
    """A stretch of a mixed fleet: so many nodes, one after the other, of one hardware model."""

    hardware: Model
    nodes: Count


class Fleet(_Section, frozen=True, kw_only=True):
    """Which machines there are: nodes `n01`, `n02` …; `hardware` is a row of HARDWARE.

    A mixed fleet names its `models` in the order of its nodes instead; their nodes add up.
    Racks follow one another: each has its leaf switch; `racks_per_feed`, `racks_per_storage` and
    `racks_per_room` hang on one power feed, one shared file system and one room. `raw_meters` is
    the share of nodes whose power meter does not smooth: read every 10 s it beats with the steps.
    """

    nodes: Annotated[int, msgspec.Meta(ge=1, le=20_000)] = 8
    gpus_per_node: Annotated[int, msgspec.Meta(ge=1, le=8)] = 8
    nodes_per_rack: Count = 4
    racks_per_feed: Count = 2
    racks_per_storage: Count = 4
    racks_per_room: Count = 8
    hardware: Model = "h100-sxm"
    models: tuple[ModelShare, ...] = ()
    cooling: Cooling = AirCooling()
    raw_meters: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0

    def hardware_of_nodes(self) -> list[Model]:
        """Return the hardware model of each node, in order."""
        if not self.models:
            return [self.hardware] * self.nodes
        return [own.hardware for own in self.models for _ in range(own.nodes)][: self.nodes]

    def node_names(self) -> tuple[str, ...]:
        """Return the names of all nodes, in order."""
        width = max(2, len(str(self.nodes)))
        return tuple(f"n{number:0{width}d}" for number in range(1, self.nodes + 1))


class Job(_Section, frozen=True, kw_only=True):
    """A synchronous training job on all GPUs of its nodes.

    `end_seconds` 0 is the end of the run; `checkpoint_every` and `evaluation_every` count steps,
    0 is never. `exchange_ratio` is the share of a step spent in communication not hidden by
    computing; `mfu_ratio` what the job reaches when nothing is wrong. Ranks are laid out as
    Megatron-LM does: tensor innermost, then data, `pipeline` stages outermost; the last stage
    computes `last_stage_load` times as long (it has the vocabulary). `restart_seconds` is when the
    job is started anew from its checkpoint on purpose, 0 is never; a job that failed is started
    anew `requeue_seconds` later if all its machines work. `preempt_seconds` is when the scheduler
    takes its nodes for somebody else (0 is never), `resume_seconds` when it gives them back.
    `intensity_ratio` says what the model draws while it computes, 1 is a dense one: a model that
    waits for memory draws less.
    """

    name: Name
    nodes: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    start_seconds: Seconds = 0.0
    end_seconds: Seconds = 0.0
    loading_seconds: Positive = 25.0
    compile_seconds: Positive = 15.0
    step_seconds: Annotated[float, msgspec.Meta(ge=0.2, le=120)] = 2.4
    exchange_ratio: Annotated[float, msgspec.Meta(gt=0, lt=0.9)] = 0.15
    checkpoint_every: Annotated[int, msgspec.Meta(ge=0)] = 200
    checkpoint_seconds: Positive = 12.0
    evaluation_every: Annotated[int, msgspec.Meta(ge=0)] = 0
    evaluation_seconds: Positive = 20.0
    first_step: Annotated[int, msgspec.Meta(ge=0)] = 0
    parameters: Positive = 8e9
    mfu_ratio: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.42
    pipeline: Count = 1
    tensor: Count = 1
    last_stage_load: Annotated[float, msgspec.Meta(ge=1, le=2)] = 1.0
    restart_seconds: Seconds = 0.0
    requeue_seconds: Positive = 60.0
    preempt_seconds: Seconds = 0.0
    resume_seconds: Seconds = 0.0
    intensity_ratio: Annotated[float, msgspec.Meta(ge=0.3, le=1.1)] = 1.0


class Fault(_Section, frozen=True, kw_only=True):
    """Something going wrong: `mode` is a row of FAULTS, which says the unit of `severity`.

    `ramp_seconds` is how long the gradual form takes to reach its severity; `on_seconds` and
    `off_seconds` are the beat of the intermittent one. `end_seconds` 0 is never.
    """

    mode: Name
    entity: str
    onset_seconds: Seconds
    severity: Positive
    form: Form = "sudden"
    end_seconds: Seconds = 0.0
    ramp_seconds: Positive = 120.0
    on_seconds: Positive = 90.0
    off_seconds: Positive = 45.0


class Maintenance(_Section, frozen=True, kw_only=True):
    """Planned work on a node that no job uses: its counters begin anew, nothing is wrong.

    `down_seconds` is how long a reboot takes; the scheduler announces it, a driver reload nobody.
    A driver update is a reboot with another version behind it; sensors are replaced, and a GPU (the
    first of the node), while the node is off: offsets, and the whole device, are others then.
    """

    kind: Literal["driver_reload", "reboot", "driver_update", "sensors_replaced", "gpu_replaced"]
    node: str
    at_seconds: Seconds
    down_seconds: Positive = 60.0


class Imperfection(_Section, frozen=True, kw_only=True):
    """How often the pipeline itself loses something: chances per reading and per frame.

    Of a share `lossy_nodes` of all nodes frames are lost `lossy_factor` times as often.
    `clock_sigma_seconds` is how far the nodes' clocks are off for good (1 sigma).
    """

    failed_reading: Annotated[float, msgspec.Meta(ge=0, le=0.1)] = 1e-5
    missed_frame: Annotated[float, msgspec.Meta(ge=0, le=0.1)] = 2e-4
    lossy_nodes: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    lossy_factor: Annotated[float, msgspec.Meta(ge=1, le=1000)] = 50.0
    clock_sigma_seconds: Annotated[float, msgspec.Meta(ge=0, le=0.02)] = 0.0


class Scenario(_Section, frozen=True, kw_only=True):
    """The whole file; every agent reads once in `period_seconds`."""

    name: Name
    cluster: Name = "simulated"
    start: datetime = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
    duration_seconds: Annotated[int, msgspec.Meta(ge=10, le=366 * 86400)] = 1500
    period_seconds: Annotated[int, msgspec.Meta(ge=1, le=60)] = 1
    fleet: Fleet = Fleet()
    imperfection: Imperfection = Imperfection()
    job: tuple[Job, ...] = ()
    fault: tuple[Fault, ...] = ()
    maintenance: tuple[Maintenance, ...] = ()

    @property
    def start_unix_nano(self) -> int:
        """Return the first simulated second."""
        return int(self.start.timestamp()) * 1_000_000_000

    @property
    def gpus(self) -> int:
        """Return the number of GPUs."""
        return self.fleet.nodes * self.fleet.gpus_per_node

    @property
    def learning_seconds(self) -> float:
        """Return the first quarter of the run, in which detectors learn and no fault may begin."""
        return min(self.duration_seconds / 4, 3600.0)
