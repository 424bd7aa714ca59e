"""The loss of a job jumps: a bad piece of data; the gradient norm jumps with it.

Gradual climbs over its ramp; intermittent comes and goes.
"""

from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.training import LOSS_NOISE


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Raise loss and gradient norm."""
    gradient, now = list(knobs.gradient.values())[index], level(fault, seconds)
    gradient.loss = 1.0 + (fault.severity - 1.0) * now
    gradient.factor = 1.0 + 2.0 * now


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the spike."""
    return ("TRN-02",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the jump over the noise of one step: it is told from one."""
    return cut((fault.severity - 1.0) / LOSS_NOISE)


LOSS_SPIKES = Mode(
    name="loss_spikes",
    layer="job",
    entity_kind="job",
    severity_help="factor on the loss",
    severities=(1.15, 2.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
