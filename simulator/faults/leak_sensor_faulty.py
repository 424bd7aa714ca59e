"""The leak sensor of one rack is broken: nobody would know of a leak.

Shows as the sensor's own state alone.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Blind the sensor."""
    if active(fault, seconds):
        knobs.leak_blind[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the broken sensor."""
    return ("FAC-03",)


LEAK_SENSOR_FAULTY = Mode(
    name="leak_sensor_faulty",
    layer="facility",
    entity_kind="rack",
    severity_help="sensors that are broken; one is read",
    severities=(1.0, 1.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    cooling="liquid",
)
