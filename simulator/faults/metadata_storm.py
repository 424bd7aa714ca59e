"""Somebody lists millions of files: the metadata server is busy, opening files takes long.

Shows as metadata operations and their latency; data moves as ever.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.storage import LATENCY_NOISE, METADATA_FREE

READING_SECONDS = 10.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add operations."""
    knobs.metadata[index] += (fault.severity - 1.0) * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the storm."""
    return ("STO-02",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise of latency over the noise of the window, which is in log."""
    spread = math.sqrt(math.exp(LATENCY_NOISE**2) - 1.0)
    readings = PERSISTENCE_SECONDS / READING_SECONDS
    return cut((fault.severity / METADATA_FREE - 1.0) / (spread / math.sqrt(readings)))


METADATA_STORM = Mode(
    name="metadata_storm",
    layer="storage",
    entity_kind="storage_target",
    severity_help="factor on metadata operations",
    severities=(8.0, 40.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
