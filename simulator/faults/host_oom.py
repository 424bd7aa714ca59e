"""A node runs out of memory: the kernel kills a worker, the job fails and starts anew.

Shows as available memory falling, memory pressure, the kernel's message, the failed job. Sudden
takes seconds, gradual its ramp; intermittent leaks again with every beat.
"""

from simulator.faults.fault import Mode, always
from simulator.knobs import Knobs
from simulator.scenario import Fault

SUDDEN_SECONDS = 8.0


def _climb(fault: Fault, seconds: float) -> float:
    """Return how far the leak has come: 1 and beyond is killed."""
    since = seconds - fault.onset_seconds
    if fault.form == "intermittent" and since >= 0:
        return since % (fault.on_seconds + fault.off_seconds) / fault.on_seconds
    return since / (SUDDEN_SECONDS if fault.form == "sudden" else fault.ramp_seconds)


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Take memory; at the end of the climb the kernel kills and memory is free again."""
    climb, before = _climb(fault, seconds), _climb(fault, seconds - knobs.beat)
    if 0.0 < climb < 1.0:
        knobs.memory_taken[index] = fault.severity * climb
    if climb >= 1.0 > before:
        knobs.killed[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the host out of memory."""
    return ("HOST-03",)


HOST_OOM = Mode(
    name="host_oom",
    layer="host",
    entity_kind="node",
    severity_help="share of the node's free memory taken when the kernel kills",
    severities=(0.9, 0.99),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
    most=1.0,
)
