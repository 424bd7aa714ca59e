"""One node stops: it sends nothing any more, its links are down, the job there fails.

It does not come back. The scheduler notices after a minute.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Switch it off."""
    if active(fault, seconds):
        knobs.down[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the unreachable node."""
    return ("HOST-01",)


NODE_DOWN = Mode(
    name="node_down",
    layer="host",
    entity_kind="node",
    severity_help="minutes until somebody looks; the silence is the same",
    severities=(1.0, 60.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
