"""A memory row cannot be replaced any more, the spares are used up: Xid 64 and the failure flag.

The GPU has to be replaced; its job goes on until the next error.
"""

from simulator.faults.fault import Mode, active, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "NVRM: Xid (PCI:{pci}): 64, Row Remapper: Error recording row remap"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Set the flag and tell the code."""
    if active(fault, seconds):
        knobs.remap_failed[index] = 1.0
    if comes(fault, seconds, knobs.beat):
        knobs.tell("gpu", index, "nvidia.xid:64", TEXT, "critical")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the failed remap."""
    return ("GPU-MEM-03",)


ROW_REMAP_FAILED = Mode(
    name="row_remap_failed",
    layer="gpu",
    entity_kind="gpu",
    severity_help="rows that could not be replaced; the flag is the same",
    severities=(1.0, 4.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
