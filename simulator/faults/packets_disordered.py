"""Packets reach one port out of order or not at all and are asked for again.

Shows as the counters of packets out of sequence; switches and optics are well.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.nic import UNORDERED_PER_SECOND
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Disorder packets."""
    knobs.unordered[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the disordered packets."""
    return ("NIC-08",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the packets more over the window."""
    return noise.counts(fault.severity, UNORDERED_PER_SECOND)


PACKETS_DISORDERED = Mode(
    name="packets_disordered",
    layer="nic",
    entity_kind="nic_port",
    severity_help="packets a second",
    severities=(0.5, 30.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
