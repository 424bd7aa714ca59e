"""The loss of a job jumps and comes back within a minute: a bad piece of data.

The gradient norm jumps with it. Intermittent jumps again with every beat; gradual climbs over its
ramp and stays, as bad data that is mixed in more and more does.
"""

import math

from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.training import LOSS_NOISE

FADES_SECONDS = 25.0
GRADIENT_FACTOR = 2.0  # beyond 1, at the top of the jump


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Raise loss and gradient norm."""
    gradient, now = list(knobs.gradient.values())[index], level(fault, seconds)
    since = seconds - fault.onset_seconds
    if fault.form == "intermittent":
        since %= fault.on_seconds + fault.off_seconds
    if fault.form != "gradual" and now:
        now = math.exp(-since / FADES_SECONDS)
    gradient.loss = 1.0 + (fault.severity - 1.0) * now
    gradient.factor = 1.0 + GRADIENT_FACTOR * now


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the spike; a climb that stays looks like a norm that creeps up."""
    return ("TRN-02", "TRN-05", "TRN-03") if fault.form == "gradual" else ("TRN-02",)


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
