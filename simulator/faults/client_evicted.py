"""The storage expels one node: its mount is lost, the job there fails and starts anew.

Shows as the eviction and the state of the mount.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "This client was evicted by fs1-MDT0000; in progress operations will fail"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the state and let a process die."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("shared_mount", index, "storage.mount_state:lost", TEXT, "major")
        knobs.evicted[index] = knobs.crashed[index * knobs.width] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the eviction."""
    return ("STO-05",)


CLIENT_EVICTED = Mode(
    name="client_evicted",
    layer="storage",
    entity_kind="node",
    severity_help="evictions; the code is the same",
    severities=(1.0, 4.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
