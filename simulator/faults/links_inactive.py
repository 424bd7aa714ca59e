"""Some scale-up links of one GPU are inactive: its exchanges take longer.

Shows as the count of links below what the board has.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

CRC_BEFORE = 1.0  # checksum errors a second while a link is going


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Take links away, after errors in the gradual form."""
    knobs.links_lost[index] = max(round(fault.severity), 1) * (level(fault, seconds) >= 1.0)
    knobs.crc[index] += CRC_BEFORE * (0.0 < level(fault, seconds) < 1.0)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the inactive links."""
    return ("NVL-03",)


LINKS_INACTIVE = Mode(
    name="links_inactive",
    layer="scale_up",
    entity_kind="gpu",
    severity_help="links that are inactive, rounded",
    severities=(1.0, 6.4),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
