"""The system processor of one GPU does not answer: Xid 119, then nothing is read of it.

Its job fails and cannot start again there. The card is still listed: nothing is missing but its
readings.
"""

from simulator.faults.fault import Mode, active, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "NVRM: Xid (PCI:{pci}): 119, Timeout after 6s of waiting for RPC response from GPU GSP!"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and silence the card."""
    if active(fault, seconds):
        knobs.silent[index] = 1.0
    if comes(fault, seconds, knobs.beat):
        knobs.tell("gpu", index, "nvidia.xid:119", TEXT, "critical")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the timeout of the system processor."""
    return ("GPU-CORE-03",)


GSP_TIMEOUT = Mode(
    name="gsp_timeout",
    layer="gpu",
    entity_kind="gpu",
    severity_help="seconds that the driver waits; the code is the same",
    severities=(6.0, 45.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
