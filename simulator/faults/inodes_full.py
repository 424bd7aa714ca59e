"""A node's local disk runs out of inodes: a cache of millions of small files.

Shows as their used share beyond its limit, with space left.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Use inodes up."""
    knobs.inodes_filled[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the full disk or inodes."""
    return ("HOST-07",)


INODES_FULL = Mode(
    name="inodes_full",
    layer="host",
    entity_kind="mount",
    severity_help="used share that they come to",
    severities=(0.96, 1.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    most=1.0,
)
