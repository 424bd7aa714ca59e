"""A hot spot at a leaf switch: traffic from elsewhere overloads its uplinks.

Shows as congestion marks and notifications at all ports of the rack, uplinks at their capacity with
their buffers filled, and the exchanges of the jobs there taking longer.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.step import EXCHANGE_NOISE

TYPICAL_STEP_SECONDS = 2.4


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Overload the uplinks."""
    knobs.congestion[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the congestion hot spot."""
    return ("NET-02",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share by which exchanges take longer, in deviations of the window's mean."""
    steps = max(PERSISTENCE_SECONDS / TYPICAL_STEP_SECONDS, 1.0)
    return cut(fault.severity / (EXCHANGE_NOISE / math.sqrt(steps)))


CONGESTION = Mode(
    name="congestion",
    layer="switch",
    entity_kind="switch",
    severity_help="traffic beyond the uplinks' capacity, as a share of it",
    severities=(0.15, 1.2),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
