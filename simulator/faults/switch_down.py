"""A leaf switch goes down: all ports of its rack lose their link, the jobs there fail.

Shows as the switch not answering and link-down events of all its ports. Gradual warms up over its
ramp and then switches itself off; intermittent reboots again and again.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Warm the switch in the gradual form; then switch it off."""
    now = level(fault, seconds)
    if fault.form == "gradual":
        knobs.switch_kelvin[index] += fault.severity * now
    if now >= 1.0:
        knobs.switch_down[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the switch down."""
    return ("NET-06",)


SWITCH_DOWN = Mode(
    name="switch_down",
    layer="switch",
    entity_kind="switch",
    severity_help="kelvin by which it warms before it switches itself off, in the gradual form",
    severities=(15.0, 40.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
