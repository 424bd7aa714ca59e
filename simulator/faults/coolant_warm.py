"""A distribution unit sends warmer coolant than it should: its chiller or valve fails.

Shows as supply temperature up with flow unchanged, and all GPUs of the loop warmer by as much.
"""

import math

from simulator.coolant import SUPPLY_WANDER_CELSIUS, TEMPERATURE_NOISE_CELSIUS
from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

READING_SECONDS = 10.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Warm the supply."""
    knobs.coolant_kelvin[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the warm supply."""
    return ("FAC-04",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise over the supply's own wandering and the sensor's noise in the window."""
    reading = TEMPERATURE_NOISE_CELSIUS / math.sqrt(PERSISTENCE_SECONDS / READING_SECONDS)
    return cut(fault.severity / math.hypot(SUPPLY_WANDER_CELSIUS, reading))


COOLANT_WARM = Mode(
    name="coolant_warm",
    layer="facility",
    entity_kind="cdu",
    severity_help="kelvin by which the supply is warmer",
    severities=(5.5, 14.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
    cooling="liquid",
)
