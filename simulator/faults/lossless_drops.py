"""A leaf switch drops packets of a class that must not lose any: its buffers are set wrong.

Shows as discards at the uplinks and packets out of sequence at all ports of the rack.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Drop packets."""
    knobs.dropped[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the drops."""
    return ("NET-05",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the drops over the window; a healthy uplink has none."""
    return noise.counts(fault.severity, 0.0)


LOSSLESS_DROPS = Mode(
    name="lossless_drops",
    layer="switch",
    entity_kind="switch",
    severity_help="packets a second at each uplink",
    severities=(2.0, 60.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
