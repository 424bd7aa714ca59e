"""A device behind a leaf switch pauses it without end: all ports of the rack are held.

Shows as pause frames at the switch's and the nodes' ports, and exchanges taking longer.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.nic import PAUSES_PER_SECOND
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Pause all ports."""
    knobs.storm[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the storm."""
    return ("NET-01",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the pause frames more over the window."""
    return noise.counts(fault.severity, PAUSES_PER_SECOND)


PAUSE_STORM = Mode(
    name="pause_storm",
    layer="switch",
    entity_kind="switch",
    severity_help="pause frames a second at each port",
    severities=(600.0, 8000.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
