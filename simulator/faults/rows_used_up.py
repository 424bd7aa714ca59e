"""Memory rows of one GPU are replaced one after the other: the spares will not last.

Shows as the count of rows remapped after uncorrectable errors growing.
"""

import math

from simulator.faults.fault import Mode, always, developed_seconds
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Replace rows."""
    knobs.remapped[index] = math.ceil(fault.severity / 60.0 * developed_seconds(fault, seconds))


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the spares that run out."""
    return ("GPU-MEM-07",)


ROWS_USED_UP = Mode(
    name="rows_used_up",
    layer="gpu",
    entity_kind="gpu",
    severity_help="rows a minute",
    severities=(1.0, 6.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
