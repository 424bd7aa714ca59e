"""The PCIe link of one GPU repeats packets: a marginal riser or cable, at full width.

Shows as the GPU's counter of replays and corrected errors at the node's root ports growing.
"""

from simulator.faults import noise
from simulator.faults.fault import Mode, level
from simulator.fleet import Machines
from simulator.gpu import REPLAYS_PER_SECOND
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add replays."""
    knobs.replays[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the replays."""
    return ("PCIE-02",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the replays more over the window."""
    return noise.counts(fault.severity, REPLAYS_PER_SECOND)


PCIE_REPLAYS = Mode(
    name="pcie_replays",
    layer="pcie",
    entity_kind="gpu",
    severity_help="replays a second",
    severities=(0.5, 5.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
