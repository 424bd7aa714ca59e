"""A program touches memory that is not its own: Xid 31 on one GPU, the job fails and starts anew.

Nothing is wrong with the machine; intermittent fails again with every beat.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "NVRM: Xid (PCI:{pci}): 31, pid=41877, MMU Fault: ENGINE GRAPHICS faulted"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and let the process die."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("gpu", index, "nvidia.xid:31", TEXT, "major")
        knobs.crashed[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the page fault."""
    return ("GPU-CORE-05",)


PAGE_FAULT = Mode(
    name="page_fault",
    layer="gpu",
    entity_kind="gpu",
    severity_help="faults; the code is the same",
    severities=(1.0, 8.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
