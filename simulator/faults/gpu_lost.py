"""One GPU falls off the bus: Xid 79, none of its readings answers any more, its job fails for good.

Gradual and intermittent have PCIe replays as their warning. Only a cold boot brings it back.
"""

from simulator.faults.fault import Mode, always, level, stays
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Add replays before; then take the GPU away."""
    knobs.replays[index] += fault.severity * level(fault, seconds)
    if stays(fault, seconds):
        knobs.lost[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the GPU off the bus."""
    return ("GPU-CORE-01",)


GPU_LOST = Mode(
    name="gpu_lost",
    layer="gpu",
    entity_kind="gpu",
    severity_help="PCIe replays a second that come before, in the gradual and intermittent forms",
    severities=(0.5, 5.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
