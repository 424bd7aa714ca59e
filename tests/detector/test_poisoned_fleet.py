"""A fleet whose history is poisoned: what befalls readings makes no flood, and blinds nobody.

Four simulated nodes that are read once a minute, through detect and decide. Hours are healthy, then
readings are spoilt, then one GPU's cooling fails: that must be found.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

import runbooks
from forewarn import wire
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.cli.line import Line
from forewarn.config import Settings
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, Frame
from simulator import simulate
from simulator.scenario import AirCooling, Fault, Fleet, Job, Scenario

HOUR, MINUTE = 3600, 60
HOURS, SPOILT, WHOLE, FAULT = 9.0, 4.0, 5.5, 8.0  # the whole run; spoilt from, whole again, fault
SICK = "node/n02/gpu/0000:43:00.0"
DAY = 24.0
FEW = 3  # incidents that a disturbance may open
Change = Callable[[Frame, float], Frame | None]
LAYOUTS = wire.LayoutCache()


def scenario(*faults: Fault, hours: float = HOURS) -> Scenario:
    """Return four nodes with one job; in the last hour the cooling of one GPU fails."""
    last = Fault(mode="thermal_paste", entity=SICK, severity=1.8,
                 onset_seconds=(hours - HOURS + FAULT) * HOUR)  # fmt: skip
    nodes = ("n01", "n02", "n03", "n04")
    return Scenario(
        name="poisoned", duration_seconds=round(hours * HOUR), period_seconds=MINUTE,
        fleet=Fleet(nodes=4, cooling=AirCooling(swing_celsius=1.0)),
        job=(Job(name="llm", nodes=nodes, step_seconds=45.0),), fault=(*faults, last),
    )  # fmt: skip


class Run:
    """What came of a run: its incidents by when they opened, in hours."""

    def __init__(
        self, own: Scenario, change: Change, jobs_too: bool = False, seed: int = 4
    ) -> None:
        settings = msgspec.structs.replace(Settings(), cluster=own.cluster)
        self.start = own.start_unix_nano
        self.fault = own.fault[-1].onset_seconds / HOUR
        with tempfile.TemporaryDirectory() as folder:
            line = Line(settings, Path(folder), runbooks.load())
            for instant in simulate(own, seed):
                hours = (instant.time_unix_nano - self.start) / NANOSECONDS / HOUR
                frames = [f for frame in instant.frames if (f := change(frame, hours)) is not None]
                at = instant.time_unix_nano + NANOSECONDS
                own_jobs = [change(f, hours) if jobs_too else f for f in instant.job_frames]
                jobs = [frame for frame in own_jobs if frame is not None]
                line.publish(at, frames, jobs, instant.events, instant.inventory)
                line.step()
            line.finish()
            self.incidents = [own for own in line.incidents() if own.state != "merged"]
            line.close()

    def between(self, first: float, last: float) -> list[Incident]:
        """Return what opened between two hours."""
        return [
            own
            for own in self.incidents
            if first <= (own.detected_at_unix_nano - self.start) / NANOSECONDS / HOUR < last
        ]

    def finds(self) -> bool:
        """Say whether the GPU whose cooling fails at the end was found, and by its heat."""
        late = self.between(self.fault, self.fault + HOURS)
        return any(
            own.entity == SICK and "gpu_temperature_celsius" in {f.signal for f in own.evidence}
            for own in late
        )


def values(frame: Frame) -> tuple[list[tuple[str, str]], NDArray[np.float64]]:
    """Return (signal, entity) of each position, and a copy of the values."""
    return LAYOUTS.get(frame.layout).pairs(), np.frombuffer(frame.values, "<f8").copy()


def with_values(frame: Frame, own: NDArray[np.float64]) -> Frame:
    return msgspec.structs.replace(frame, values=own.astype("<f8").tobytes())


def spoilt(hours: float) -> bool:
    return SPOILT <= hours < WHOLE


def sound(frame: Frame, hours: float) -> Frame:
    """Leave readings as they are."""
    return frame


def missing(frame: Frame, hours: float) -> Frame | None:
    """Lose every frame of a day."""
    return None if SPOILT <= hours < SPOILT + DAY else frame


class Reset:
    """Every counter begins anew, again and again, as after resets of drivers and ports."""

    def __init__(self) -> None:
        self.zero: dict[tuple[str, str], float] = {}

    def __call__(self, frame: Frame, hours: float) -> Frame:
        pairs, own = values(frame)
        for at, pair in enumerate(pairs):
            if CATALOGUE[pair[0]].kind is not Kind.COUNTER:
                continue
            if spoilt(hours) and round(hours * 60) % 20 == 0:
                self.zero[pair] = own[at]
            own[at] -= self.zero.get(pair, 0.0)
        return with_values(frame, own)


def stepped(frame: Frame, hours: float) -> Frame:
    """Set the clock of one node back by an hour for a while."""
    if frame.node != "n03" or not spoilt(hours):
        return frame
    return msgspec.structs.replace(frame, time_unix_nano=frame.time_unix_nano - HOUR * NANOSECONDS)


def thousandfold(frame: Frame, hours: float) -> Frame:
    """Read all powers in milliwatts, as after an update that changes the unit."""
    pairs, own = values(frame)
    watts = np.array([name.endswith("power_watts") for name, _ in pairs], np.bool_)
    return with_values(frame, np.where(watts & spoilt(hours), 1000 * own, own))


def not_a_number(frame: Frame, hours: float) -> Frame:
    """Read NaN everywhere."""
    own = values(frame)[1]
    return with_values(frame, np.full(len(own), np.nan)) if spoilt(hours) else frame


class Constant:
    """All sensors of one node stand still."""

    def __init__(self) -> None:
        self.held: dict[bytes, bytes] = {}

    def __call__(self, frame: Frame, hours: float) -> Frame:
        if frame.node != "n03":
            return frame
        if not spoilt(hours):
            self.held[frame.layout] = frame.values
            return frame
        return msgspec.structs.replace(frame, values=self.held.get(frame.layout, frame.values))


def renamed(frame: Frame, hours: float) -> Frame:
    """Call one node by another name from a time on."""
    if frame.node != "n03" or hours < SPOILT:
        return frame
    own = LAYOUTS.get(frame.layout)
    names = tuple(name.replace("node/n03", "node/renamed") for name in own.entities)
    layout = wire.encode_layout(msgspec.structs.replace(own, entities=names))
    return msgspec.structs.replace(frame, node="renamed", layout=layout)


CHANGES: dict[str, Callable[[], Change]] = {
    "sound": lambda: sound,
    "reset": Reset,
    "stepped": lambda: stepped,
    "thousandfold": lambda: thousandfold,
    "not_a_number": lambda: not_a_number,
    "constant": Constant,
}


@pytest.mark.parametrize("name", CHANGES)
def test_spoilt_readings_neither_flood_nor_blind(name):
    run = Run(scenario(), CHANGES[name]())
    during = run.between(SPOILT, FAULT)
    assert len(during) <= (FEW if name != "sound" else 0), named(during)
    assert run.finds()


def test_missing_day_is_one_incident_and_blinds_nobody():
    run = Run(scenario(hours=HOURS + DAY), missing, jobs_too=True)
    (gap,) = run.between(0, run.fault)
    assert {own.signal for own in gap.evidence} <= {"agent_up", "pipeline_lag_seconds"}
    assert run.finds()


def test_renamed_node_is_missed_once_and_its_new_name_is_learned():
    run = Run(scenario(), renamed, jobs_too=True)
    during = run.between(SPOILT, FAULT)
    assert len(during) <= FEW, named(during)
    assert any(name.startswith("node/n03") for own in during for name in own.affected)
    assert not any(name.startswith("node/renamed") for own in during for name in own.affected)
    assert run.finds()


def test_faults_in_the_history_are_no_part_of_what_is_normal():
    begin, end = SPOILT * HOUR, (SPOILT + 0.05 * HOURS) * HOUR
    faults = [
        Fault(mode=mode, entity=entity, severity=severity, onset_seconds=begin, end_seconds=end)
        for mode, entity, severity in (
            ("thermal_paste", SICK, 1.8),
            ("link_errors", "node/n04/nic/mlx5_0/port/1", 20.0),
            ("cpu_contention", "node/n01", 0.8),
        )
    ]
    run = Run(scenario(*faults), sound)
    assert len(run.between(SPOILT, FAULT)) <= len(faults) + FEW
    assert any(SICK in own.affected for own in run.between(SPOILT, FAULT))
    assert run.finds()


def named(own: list[Incident]) -> list[tuple[str, str]]:
    return [(incident.title.en, incident.entity) for incident in own]
