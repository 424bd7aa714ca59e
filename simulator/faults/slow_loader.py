"""The data loader of one rank is slow: the rank waits for data, all others for the rank.

Shows as that rank's data wait up, every other rank's communication up, steps longer.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.step import COMPUTE_NOISE, EXCHANGE_NOISE

TYPICAL_STEP_SECONDS, EXCHANGE_SHARE = 2.4, 0.15


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Let the rank wait."""
    knobs.loader[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the starving loader."""
    return ("TRN-01",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share by which steps take longer over their noise in the window."""
    steps = max(PERSISTENCE_SECONDS / TYPICAL_STEP_SECONDS, 1.0)
    noise = math.hypot(COMPUTE_NOISE, EXCHANGE_SHARE * EXCHANGE_NOISE)
    return cut(fault.severity / (noise / math.sqrt(steps)))


SLOW_LOADER = Mode(
    name="slow_loader",
    layer="job",
    entity_kind="rank",
    severity_help="share of a step that the rank waits for data",
    severities=(0.05, 0.6),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
