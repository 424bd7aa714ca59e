"""A storage target goes offline and its partner takes over: all operations take longer.

Shows as the target's state and latency at all mounts.
"""

from simulator.faults.fault import Mode, always, comes, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "target OST0003 is not healthy: failover to its partner"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the state and slow operations down."""
    knobs.saturation[index] += (fault.severity - 1.0) * level(fault, seconds)
    if comes(fault, seconds, knobs.beat):
        knobs.tell("storage_target", index, "storage.target_state:not_healthy", TEXT, "critical")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the target that is offline."""
    return ("STO-07",)


TARGET_OFFLINE = Mode(
    name="target_offline",
    layer="storage",
    entity_kind="storage_target",
    severity_help="factor on the time of an operation while it recovers",
    severities=(6.0, 20.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
