"""A bad optic or cable at one port: symbol errors, spoiled packets, now and then a retraining.

Shows as the port's error counters growing; its job loses a little time to retransmission.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.nic import SYMBOL_ERRORS_PER_SECOND
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add symbol errors."""
    knobs.symbol_errors[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return symbol errors rising."""
    return ("NIC-03",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the errors more over the window, in deviations of the healthy count (at least 1)."""
    healthy = math.sqrt(SYMBOL_ERRORS_PER_SECOND * PERSISTENCE_SECONDS)
    return cut(fault.severity * PERSISTENCE_SECONDS / max(healthy, 1.0))


LINK_ERRORS = Mode(
    name="link_errors",
    layer="nic",
    entity_kind="nic_port",
    severity_help="symbol errors a second beyond the port's background",
    severities=(0.3, 3.3),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
