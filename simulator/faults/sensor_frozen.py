"""The temperature sensor of one GPU repeats its last reading; the GPU itself is well.

Shows as a reading that does not follow the load; margin to the limit stands still with it.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Freeze the reading."""
    if active(fault, seconds):
        knobs.frozen[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the frozen sensor."""
    return ("OBS-04",)


SENSOR_FROZEN = Mode(
    name="sensor_frozen",
    layer="telemetry",
    entity_kind="gpu",
    severity_help="sensors that freeze; one is read",
    severities=(1.0, 1.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
