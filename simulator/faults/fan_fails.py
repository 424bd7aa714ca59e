"""Fans of one node fail: the air that is left does not take the heat of its GPUs.

Shows as fan speed below what the controller asks, its word, and all GPUs of the node warmer.
"""

from simulator.faults.fault import Mode, always, begins, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Take air away; the controller tells when all is gone."""
    knobs.fan_lost[index] = fault.severity * level(fault, seconds)
    if begins(fault, seconds, knobs.beat):
        knobs.tell("node", index, "bmc.sel:fan", "Fan 3: lower critical going low", "major")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the fault of the fans."""
    return ("HOST-10",)


FAN_FAILS = Mode(
    name="fan_fails",
    layer="host",
    entity_kind="node",
    severity_help="share of the fans that is lost",
    severities=(0.3, 0.6),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    cooling="air",
    most=0.95,
)
