"""Coolant leaks in one rack: its sensor is wet, flow and pressure fall.

Shows as the sensor's state, and flow and pressure below the peers'.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Lose coolant."""
    knobs.leaking[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the leak."""
    return ("FAC-02",)


COOLANT_LEAKS = Mode(
    name="coolant_leaks",
    layer="facility",
    entity_kind="rack",
    severity_help="share of the flow that is lost",
    severities=(0.1, 0.5),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    cooling="liquid",
    most=0.95,
)
