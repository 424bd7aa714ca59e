"""A marginal scale-up link of one GPU: checksum errors, packets sent again, some retrainings.

Shows as the GPU's link error counters growing; its job's exchanges take a little longer.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.gpu import CRC_PER_SECOND
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add checksum errors."""
    knobs.crc[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return scale-up retransmissions without a failure."""
    return ("NVL-06",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the errors more over the window, in deviations of the healthy count (at least 1)."""
    healthy = math.sqrt(CRC_PER_SECOND * PERSISTENCE_SECONDS)
    return cut(fault.severity * PERSISTENCE_SECONDS / max(healthy, 1.0))


LINK_CRC = Mode(
    name="link_crc",
    layer="scale_up",
    entity_kind="gpu",
    severity_help="checksum errors a second beyond the background",
    severities=(0.3, 3.3),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
