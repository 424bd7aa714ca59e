"""The NFS server does not answer one node: processes there hang, and the job with them.

Shows as the kernel's message, requests timing out, waiting for input, steps that do not end.
"""

from simulator.faults.fault import Mode, always, begins, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

FACTOR_BEFORE, FACTOR = 10.0, 300.0  # on operations of the mount
TIMEOUTS_PER_SECOND = 0.1
TEXT = "nfs: server fs1 not responding, still trying"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Slow the mount in the gradual form; then let all hang."""
    now = level(fault, seconds)
    if now < 1.0:
        knobs.far[index] += FACTOR_BEFORE * now
        return
    knobs.far[index] = FACTOR
    knobs.waiting_io[index] = fault.severity
    knobs.hanging[index] = 1.0
    knobs.unanswered[index] = knobs.beat * TIMEOUTS_PER_SECOND
    if begins(fault, seconds, knobs.beat):
        knobs.tell("node", index, "kernel.event:nfs_not_responding", TEXT, "major")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the server that does not answer."""
    return ("STO-06",)


MOUNT_HANGS = Mode(
    name="mount_hangs",
    layer="storage",
    entity_kind="node",
    severity_help="share of time that its processors wait",
    severities=(0.4, 0.9),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    most=1.0,
)
