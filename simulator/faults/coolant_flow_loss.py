"""A distribution unit's pump fails: less coolant for all racks on its loop.

Shows as flow, pump speed and pressure falling, then return and GPU temperatures rising on the whole
loop, and with little flow left as hardware thermal slowdown.
"""

import math

from simulator.coolant import FLOW_NOISE
from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

READING_SECONDS = 10.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Slow the pump."""
    knobs.pump_lost[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the loss of flow, before the heat that follows from it."""
    return ("FAC-01",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the flow lost over the sensor's noise in the window."""
    readings = PERSISTENCE_SECONDS / READING_SECONDS
    return cut(fault.severity / (FLOW_NOISE / math.sqrt(readings)))


COOLANT_FLOW_LOSS = Mode(
    name="coolant_flow_loss",
    layer="facility",
    entity_kind="cdu",
    severity_help="share of the pump's speed, and so of the flow, that is lost",
    severities=(0.12, 0.65),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
    cooling="liquid",
    most=0.97,
)
