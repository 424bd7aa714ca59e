"""TCP traffic of one node loses segments: storage and control suffer, collectives do not.

Shows as the node's counter of segments sent again.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.host import RESENT_PER_SECOND
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Lose segments."""
    knobs.resent[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the lost segments."""
    return ("HOST-13",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the segments more over the window."""
    return noise.counts(fault.severity, RESENT_PER_SECOND)


SEGMENTS_LOST = Mode(
    name="segments_lost",
    layer="host",
    entity_kind="node",
    severity_help="segments a second",
    severities=(3.0, 40.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
