"""The agent of one node dies: nothing is heard of the node, though its job goes on.

Shows as silence of the node while its job's other ranks report on.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Silence the agent."""
    if active(fault, seconds):
        knobs.mute[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the missing telemetry."""
    return ("OBS-01",)


AGENT_SILENT = Mode(
    name="agent_silent",
    layer="telemetry",
    entity_kind="node",
    severity_help="minutes until it is started anew; the silence is the same",
    severities=(1.0, 60.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
