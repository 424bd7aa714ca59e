"""Shared storage is asked for more than it can give: every operation takes many times as long.

Shows as operation latency and slot waiting at all mounts of that storage, its disks busy all the
time, and, once prefetching no longer covers it, all ranks of all jobs on it waiting for data.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.storage import LATENCY_NOISE

READING_SECONDS = 10.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Slow operations down."""
    knobs.saturation[index] += (fault.severity - 1.0) * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return saturated storage."""
    return ("STO-01",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise of latency over the noise of the window's readings, which is in log."""
    spread = math.sqrt(math.exp(LATENCY_NOISE**2) - 1.0)
    readings = PERSISTENCE_SECONDS / READING_SECONDS
    return cut((fault.severity - 1.0) / (spread / math.sqrt(readings)))


STORAGE_SATURATED = Mode(
    name="storage_saturated",
    layer="storage",
    entity_kind="storage_target",
    severity_help="factor on the time of an operation",
    severities=(7.0, 30.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
