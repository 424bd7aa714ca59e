"""The clock of one node is off: its time service lost its source.

Shows as offset and state of the clock; everything that the node sends bears the wrong time.
"""

from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.host import CLOCK_SIGMA_SECONDS
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Put the clock forward."""
    knobs.skew[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the skewed clock."""
    return ("HOST-06",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the offset over the healthy clock's."""
    return cut(fault.severity / CLOCK_SIGMA_SECONDS)


CLOCK_SKEWED = Mode(
    name="clock_skewed",
    layer="clock",
    entity_kind="node",
    severity_help="seconds that it is ahead",
    severities=(0.08, 3.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
