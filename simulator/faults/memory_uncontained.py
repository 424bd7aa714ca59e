"""An uncorrectable memory error that could not be contained: Xid 95 and 154, all processes die.

Shows as the codes and the job failing; the GPU must be reset before it is used again.
"""

from forewarn.records import Severity
from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

CODES: tuple[tuple[str, Severity, str], ...] = (
    ("nvidia.xid:95", "critical", "NVRM: Xid (PCI:{pci}): 95, Uncontained: FBHUB. RST: Yes"),
    ("nvidia.xid:154", "major", "NVRM: Xid (PCI:{pci}): 154, GPU recovery action: GPU Reset"),
)


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the codes and let the processes die."""
    if comes(fault, seconds, knobs.beat):
        for code, severity, text in CODES:
            knobs.tell("gpu", index, code, text, severity)
        knobs.crashed[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the uncontained error."""
    return ("GPU-MEM-05",)


MEMORY_UNCONTAINED = Mode(
    name="memory_uncontained",
    layer="gpu",
    entity_kind="gpu",
    severity_help="processes that die; the codes are the same",
    severities=(1.0, 8.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
