"""The building's controller sends old values of one room: its data is marked as not fresh.

Shows as the mark alone.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Mark the data."""
    if active(fault, seconds):
        knobs.stale[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the stale data."""
    return ("FAC-11",)


BUILDING_DATA_STALE = Mode(
    name="building_data_stale",
    layer="telemetry",
    entity_kind="facility",
    severity_help="minutes that the data is old; the mark is the same",
    severities=(1.0, 60.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
