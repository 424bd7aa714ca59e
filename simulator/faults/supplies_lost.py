"""A rack loses supply units; when those left cannot carry it, they pull the power brake.

Shows as fewer supplies up and each unit's message; from BRAKES_FROM units also as power-brake
events of all GPUs of the rack, power falling and their jobs slowing. Gradual loses one by one.
"""

import math

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

# A full rack of four nodes in training: seven units, of which five carry it.
BRAKES_FROM = 3


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Take supply units away."""
    units = max(round(fault.severity), 1)
    knobs.supplies_lost[index] = math.floor(units * level(fault, seconds))


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the lost supplies; with the brake pulled both entries have their evidence."""
    if round(fault.severity) >= BRAKES_FROM:
        return ("FAC-07", "GPU-TP-03")
    return ("FAC-07",)


SUPPLIES_LOST = Mode(
    name="supplies_lost",
    layer="facility",
    entity_kind="rack",
    severity_help="supply units lost, rounded",
    severities=(1.0, 4.4),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
