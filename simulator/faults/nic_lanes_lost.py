"""One network adapter trained down on PCIe: it is too slow for what comes and pauses the switch.

Shows as its width below its maximum, pause frames sent, exchanges taking longer.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

PAUSES_PER_SECOND = 800.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Halve the width and pause."""
    now = level(fault, seconds)
    knobs.pausing[index] = PAUSES_PER_SECOND * now
    if now >= 1.0:
        knobs.port_lanes_halved[index] = max(round(fault.severity), 1)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the narrow adapter."""
    return ("PCIE-05",)


NIC_LANES_LOST = Mode(
    name="nic_lanes_lost",
    layer="pcie",
    entity_kind="nic_port",
    severity_help="how often the width is halved, rounded",
    severities=(1.0, 2.4),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
