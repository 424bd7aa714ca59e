"""All ranks of a job compute slower at once: a library, a compiler flag or a kernel changed.

Shows as MFU and throughput down, steps longer, every rank alike; the machines are well.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Slow all ranks down."""
    knobs.slower[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the loss of efficiency."""
    return ("TRN-07",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share by which steps take longer over their noise in the window."""
    return noise.stepping(fault.severity)


EFFICIENCY_LOST = Mode(
    name="efficiency_lost",
    layer="job",
    entity_kind="job",
    severity_help="share by which computing takes longer",
    severities=(0.12, 0.8),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
