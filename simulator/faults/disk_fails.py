"""A node's local disk has errors: its file system is set to read only.

Shows as the kernel's messages and the state of the mount.
"""

from simulator.faults.fault import Mode, active, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

ERROR = "blk_update_request: critical medium error, dev nvme0n1, sector 1953128"
READ_ONLY = "EXT4-fs (nvme0n1p1): Remounting filesystem read-only"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the codes and refuse writes."""
    if active(fault, seconds):
        knobs.read_only[index] = 1.0
    if comes(fault, seconds, knobs.beat):
        knobs.tell("node", index, "kernel.event:io_error", ERROR, "major")
        knobs.tell("node", index, "kernel.event:filesystem_read_only", READ_ONLY, "critical")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the failed disk."""
    return ("HOST-08",)


DISK_FAILS = Mode(
    name="disk_fails",
    layer="host",
    entity_kind="node",
    severity_help="errors before the kernel gives up; the state is the same",
    severities=(1.0, 8.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
