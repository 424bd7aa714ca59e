"""One port came up at half its speed or a quarter: all exchanges of its job take longer.

Shows as the speed below the port's maximum.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

ERRORS_BEFORE = 2.0  # symbol errors a second while the link is going


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Halve the speed, after errors in the gradual form."""
    if level(fault, seconds) >= 1.0:
        knobs.speed_halved[index] = max(round(fault.severity), 1)
    else:
        knobs.symbol_errors[index] += ERRORS_BEFORE * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the low speed."""
    return ("NIC-06",)


SPEED_LOW = Mode(
    name="speed_low",
    layer="nic",
    entity_kind="nic_port",
    severity_help="how often the speed is halved, rounded",
    severities=(1.0, 2.4),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
