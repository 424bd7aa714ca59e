"""The air of a room gets humid: the coolers no longer dry it.

Shows as relative humidity out of its range; temperatures stay.
"""

from simulator.cooling import HUMIDITY_RATIO
from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

SHARE_PER_KELVIN, WANDER_CELSIUS = 0.06, 0.4  # humidity follows the room temperature


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Make the air humid."""
    knobs.humid[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the room out of its range."""
    return ("FAC-06",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise over the room's own wandering."""
    return cut(fault.severity / (HUMIDITY_RATIO * SHARE_PER_KELVIN * WANDER_CELSIUS))


ROOM_HUMID = Mode(
    name="room_humid",
    layer="facility",
    entity_kind="facility",
    severity_help="relative humidity above the ordinary, as a share",
    severities=(0.22, 0.4),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
