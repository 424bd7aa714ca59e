"""One GPU's PCIe link trained down: half the lanes or a quarter, with replays.

Shows as width below its maximum, the counter of replays growing, corrected errors at the node's
root ports, the rank's data taking longer to copy, and its job's exchanges too: a network port sends
from device memory over PCIe. Gradual has replays first and loses the lanes at the end of its ramp.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

REPLAYS_PER_SECOND = 1.5


def halvings(fault: Fault) -> int:
    """Return how often the width is halved."""
    return min(max(round(fault.severity), 1), 4)


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Halve the width and add replays."""
    now = level(fault, seconds)
    knobs.replays[index] += REPLAYS_PER_SECOND * now
    if now >= 1.0:
        knobs.lanes_halved[index] = halvings(fault)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the link trained below its capability."""
    return ("PCIE-01",)


PCIE_WIDTH = Mode(
    name="pcie_width",
    layer="pcie",
    entity_kind="gpu",
    severity_help="how often the width is halved, rounded: 1 or 2",
    severities=(1.0, 2.4),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
