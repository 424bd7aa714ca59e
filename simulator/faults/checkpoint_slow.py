"""Shared storage takes writes slowly: checkpoints of all jobs on it take many times as long.

Shows at the next checkpoint; reads and single operations are as quick as ever.
"""

from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

CHECKPOINT_NOISE = 0.03  # of one checkpoint after the other


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Slow checkpoints down."""
    knobs.writes_slow[index] += (fault.severity - 1.0) * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the stalling checkpoint."""
    return ("STO-03",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the time that a checkpoint takes longer over its healthy noise."""
    return cut((fault.severity - 1.0) / CHECKPOINT_NOISE)


CHECKPOINT_SLOW = Mode(
    name="checkpoint_slow",
    layer="storage",
    entity_kind="storage_target",
    severity_help="factor on the time of a checkpoint",
    severities=(3.0, 12.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
