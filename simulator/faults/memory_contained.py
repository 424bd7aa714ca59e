"""An uncorrectable memory error that stays contained: Xid 63 and 94, the process that owns it dies.

Shows as the codes, a row remap that waits for a reset, the job failing and starting anew.
"""

from forewarn.records import Severity
from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

CODES: tuple[tuple[str, Severity, str], ...] = (
    ("nvidia.xid:63", "minor", "NVRM: Xid (PCI:{pci}): 63, Row Remapper: New row marked"),
    ("nvidia.xid:94", "major", "NVRM: Xid (PCI:{pci}): 94, Contained: SM error. RST: No"),
)


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the codes and let the process die."""
    if comes(fault, seconds, knobs.beat):
        for code, severity, text in CODES:
            knobs.tell("gpu", index, code, text, severity)
        knobs.crashed[index] = knobs.pending[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the contained error."""
    return ("GPU-MEM-04",)


MEMORY_CONTAINED = Mode(
    name="memory_contained",
    layer="gpu",
    entity_kind="gpu",
    severity_help="rows that wait for a reset; the codes are the same",
    severities=(1.0, 2.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
