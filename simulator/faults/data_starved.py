"""A job's input pipeline is too slow: all its ranks wait for data.

Shows as data wait up on every rank alike, steps longer, GPUs idle in between; storage is well.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.step import COMPUTE_NOISE, EXCHANGE_NOISE

TYPICAL_STEP_SECONDS, EXCHANGE_SHARE = 2.4, 0.15


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Let all ranks wait."""
    knobs.starved[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the starving loader."""
    return ("TRN-01",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the share by which steps take longer over their noise in the window."""
    steps = max(PERSISTENCE_SECONDS / TYPICAL_STEP_SECONDS, 1.0)
    noise = math.hypot(COMPUTE_NOISE, EXCHANGE_SHARE * EXCHANGE_NOISE)
    return cut(fault.severity / (noise / math.sqrt(steps)))


DATA_STARVED = Mode(
    name="data_starved",
    layer="job",
    entity_kind="job",
    severity_help="share of a step that ranks wait for data",
    severities=(0.05, 0.6),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
