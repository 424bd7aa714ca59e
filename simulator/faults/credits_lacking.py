"""An InfiniBand leaf waits for credits of the next switch: slow receivers somewhere behind it.

Shows as transmit waiting at its ports and the rack's, without marks or drops.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.nic import CREDIT_SHARE
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Let ports wait."""
    knobs.credits[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the waiting."""
    return ("NET-03",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share by which exchanges take longer, in deviations of the window's mean."""
    return noise.exchanging(CREDIT_SHARE * fault.severity)


CREDITS_LACKING = Mode(
    name="credits_lacking",
    layer="switch",
    entity_kind="switch",
    severity_help="factor on waiting, beyond 1",
    severities=(1.5, 12.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
