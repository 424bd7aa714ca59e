"""The core clock of one GPU stays low and no reason is given; its rank holds up the job.

Shows as clock and power below those of its peers and the rank's computing taking longer.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Hold the clock down."""
    knobs.clock_held[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the low clock without a reason."""
    return ("GPU-CORE-12",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share by which computing takes longer, in deviations of the window's mean."""
    share = 1.0 / (1.0 - fault.severity) - 1.0
    return noise.computing(share)


CLOCK_HELD = Mode(
    name="clock_held",
    layer="gpu",
    entity_kind="gpu",
    severity_help="share of the clock that is lost",
    severities=(0.1, 0.5),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
    most=0.95,
)
