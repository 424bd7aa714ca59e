"""One port has no buffer for what it receives: the process behind it is too slow.

Shows as its counter of drops for lack of buffers.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Drop packets."""
    knobs.unbuffered[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the lack of buffers."""
    return ("NIC-09",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the drops over the window; a healthy port has none."""
    return noise.counts(fault.severity, 0.0)


BUFFERS_LACKING = Mode(
    name="buffers_lacking",
    layer="nic",
    entity_kind="nic_port",
    severity_help="packets a second",
    severities=(0.5, 30.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
