"""A weak memory row is replaced: Xid 63 and a remap that waits for a reset; work goes on.

Gradual has corrected errors climbing before; intermittent marks rows again with every beat.
"""

from simulator.faults.fault import Mode, always, begins, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "NVRM: Xid (PCI:{pci}): 63, Row Remapper: New row marked for remapping, reset gpu"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add corrected errors before; then mark the row."""
    if fault.form == "gradual":
        knobs.ecc[index] += fault.severity * level(fault, seconds)
    if begins(fault, seconds, knobs.beat):
        knobs.tell("gpu", index, "nvidia.xid:63", TEXT, "minor")
        knobs.pending[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the pending remap."""
    return ("GPU-MEM-02",)


ROW_REMAP_PENDING = Mode(
    name="row_remap_pending",
    layer="gpu",
    entity_kind="gpu",
    severity_help="corrected errors a second that come before, in the gradual form",
    severities=(0.3, 3.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
