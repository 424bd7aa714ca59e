"""The light that one port receives gets weak: a bent fibre or a dirty connector, no errors yet.

Shows as optical power alone.
"""

from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.nic import RX_NOISE
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Dim the light."""
    knobs.dimmed[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the weak light."""
    return ("NIC-04",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share of light lost over the noise of one reading a minute."""
    return cut((1.0 - 10 ** (-fault.severity / 10)) / RX_NOISE)


LIGHT_WEAK = Mode(
    name="light_weak",
    layer="nic",
    entity_kind="nic_port",
    severity_help="decibels of light lost",
    severities=(2.2, 6.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
