"""One GPU fails to initialise: Xid 143, the node has one less than it should.

Its job fails and waits for the node.
"""

from simulator.faults.fault import Mode, active, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "NVRM: Xid (PCI:{pci}): 143, GPU Initialization Failure"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and take the card from the list."""
    if active(fault, seconds):
        knobs.missing[index] = 1.0
    if comes(fault, seconds, knobs.beat):
        knobs.tell("gpu", index, "nvidia.xid:143", TEXT, "critical")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the missing GPU."""
    return ("GPU-CORE-08",)


GPU_MISSING = Mode(
    name="gpu_missing",
    layer="gpu",
    entity_kind="gpu",
    severity_help="seconds until the driver gives up; the code is the same",
    severities=(1.0, 30.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
