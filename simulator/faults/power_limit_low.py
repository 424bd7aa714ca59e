"""Somebody set a lower power limit on one GPU: it is capped and its rank holds up the job.

Shows as the limit itself, power at that limit, a lower clock.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Lower the limit."""
    knobs.limit_cut[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the low limit."""
    return ("GPU-TP-04",)


POWER_LIMIT_LOW = Mode(
    name="power_limit_low",
    layer="gpu",
    entity_kind="gpu",
    severity_help="share by which the limit is lower",
    severities=(0.25, 0.5),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    most=0.9,
)
