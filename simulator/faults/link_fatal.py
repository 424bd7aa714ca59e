"""A scale-up link of one GPU fails for good: Xid 74, the job fails.

Gradual and intermittent have checksum errors as their warning.
"""

from simulator.faults.fault import Mode, always, begins, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "NVRM: Xid (PCI:{pci}): 74, NVLink: fatal error detected on link 3"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add errors; then let the link fail."""
    knobs.crc[index] += fault.severity * level(fault, seconds)
    if begins(fault, seconds, knobs.beat):
        knobs.tell("gpu", index, "nvidia.xid:74", TEXT, "critical")
        knobs.crashed[index] = knobs.fatal_links[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the link error that stopped the GPU."""
    return ("NVL-01",)


LINK_FATAL = Mode(
    name="link_fatal",
    layer="scale_up",
    entity_kind="gpu",
    severity_help="checksum errors a second that come before",
    severities=(0.5, 5.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
