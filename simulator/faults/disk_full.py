"""A node's local disk fills up: with logs, caches or dumps.

Shows as the used share beyond its limit and, where the disk takes no more, "no space left" in the
log of the job there.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Fill the disk."""
    knobs.disk_filled[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the full disk."""
    return ("HOST-07",)


DISK_FULL = Mode(
    name="disk_full",
    layer="host",
    entity_kind="mount",
    severity_help="used share that it comes to",
    severities=(0.965, 1.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    most=1.0,
)
