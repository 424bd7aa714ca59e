"""A weak cell in one GPU's memory: corrected errors far beyond the background.

Shows as the counter of corrected errors growing; nothing else changes.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.gpu import ECC_PER_SECOND
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add corrected errors."""
    knobs.ecc[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return a high rate of corrected errors."""
    return ("GPU-MEM-06",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the errors more over the window, in deviations of the healthy count (at least 1)."""
    healthy = math.sqrt(ECC_PER_SECOND * PERSISTENCE_SECONDS)
    return cut(fault.severity * PERSISTENCE_SECONDS / max(healthy, 1.0))


ECC_CORRECTED = Mode(
    name="ecc_corrected",
    layer="gpu",
    entity_kind="gpu",
    severity_help="corrected errors a second beyond the background",
    severities=(0.3, 3.3),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
