"""A memory module of one node is weak: corrected errors far beyond the background.

Shows as the node's counter of corrected errors.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.host import EDAC_PER_SECOND
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add errors."""
    knobs.edac[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the errors of main memory."""
    return ("HOST-05",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the errors more over the window."""
    return noise.counts(fault.severity, EDAC_PER_SECOND)


MEMORY_ERRORS = Mode(
    name="memory_errors",
    layer="host",
    entity_kind="node",
    severity_help="corrected errors a second",
    severities=(0.3, 3.3),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
