"""A room's coolers fail: the air at all its inlets warms.

Shows as room and inlet temperatures up, fans and GPUs following; all racks of the room alike.
"""

from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

ROUNDING_CELSIUS = 0.1


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Warm the room."""
    knobs.room_kelvin[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the room out of its range."""
    return ("FAC-06",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise over the room's own wandering, which is slower than the window."""
    return cut(fault.severity / max(scenario.fleet.cooling.wander_celsius, ROUNDING_CELSIUS))


ROOM_WARM = Mode(
    name="room_warm",
    layer="facility",
    entity_kind="facility",
    severity_help="kelvin by which the room is warmer",
    severities=(5.5, 10.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
    cooling="air",
)
