"""Something else uses one node's cores: its ranks launch their kernels late and hold up their job.

Shows as the node's processors and pressure far above its peers', and all ranks there slower.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.host import LAUNCH_SHARE
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.step import COMPUTE_NOISE

TYPICAL_STEP_SECONDS = 2.4


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Use up cores."""
    knobs.stolen[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return jitter on the host."""
    return ("HOST-09",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share by which computing takes longer, in deviations of the window's mean."""
    steps = max(PERSISTENCE_SECONDS / TYPICAL_STEP_SECONDS, 1.0)
    return cut(LAUNCH_SHARE * fault.severity / (COMPUTE_NOISE / math.sqrt(steps)))


CPU_CONTENTION = Mode(
    name="cpu_contention",
    layer="host",
    entity_kind="node",
    severity_help="share of the node's cores that others use",
    severities=(0.45, 0.95),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
    most=1.0,
)
