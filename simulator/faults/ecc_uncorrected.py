"""An uncorrectable error in one GPU's memory: the process that used it dies, a row is replaced.

Shows as Xid 48, 63 and 94, one uncorrected error, a row remap that waits for a reset, and the job
failing and starting anew. Gradual has corrected errors climbing before; intermittent comes again
with every beat.
"""

from simulator.faults.fault import Mode, always, begins, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add corrected errors before, and the uncorrected one."""
    if fault.form == "gradual":
        knobs.ecc[index] += fault.severity * level(fault, seconds)
    if begins(fault, seconds, knobs.beat):
        knobs.poisoned[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the double-bit error: the others follow from it."""
    return ("GPU-MEM-01",)


ECC_UNCORRECTED = Mode(
    name="ecc_uncorrected",
    layer="gpu",
    entity_kind="gpu",
    severity_help="corrected errors a second that come before, in the gradual form",
    severities=(0.3, 3.3),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
