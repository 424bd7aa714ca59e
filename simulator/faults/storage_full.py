"""A shared file system fills up.

Shows as the used share of the target beyond its limit.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Fill the target."""
    knobs.target_filled[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the full target."""
    return ("STO-04",)


STORAGE_FULL = Mode(
    name="storage_full",
    layer="storage",
    entity_kind="storage_target",
    severity_help="used share that it comes to",
    severities=(0.96, 1.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    most=1.0,
)
