"""A fan of a leaf switch fails: the switch warms and warns.

Shows as its temperature and the word of its sensor.
"""

from simulator.faults.fault import Mode, always, comes, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and warm the switch."""
    knobs.switch_kelvin[index] += fault.severity * level(fault, seconds)
    if comes(fault, seconds, knobs.beat):
        knobs.tell("switch", index, "switch.sensor:bad", "FAN 2: speed 0 rpm", "major")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the bad sensor."""
    return ("NET-08",)


SWITCH_OVERHEATS = Mode(
    name="switch_overheats",
    layer="switch",
    entity_kind="switch",
    severity_help="kelvin by which it warms",
    severities=(15.0, 35.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
