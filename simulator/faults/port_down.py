"""The link of one port goes down and stays down: the job there fails and waits.

Shows as link state and carrier at both ends.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Cut the link."""
    if active(fault, seconds):
        knobs.cut[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the port that is down."""
    return ("NIC-01",)


PORT_DOWN = Mode(
    name="port_down",
    layer="nic",
    entity_kind="nic_port",
    severity_help="times that the driver tries; the state is the same",
    severities=(1.0, 4.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
