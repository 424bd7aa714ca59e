"""The gradient norm of a job creeps up: the learning rate is too high for what it learns now.

The loss follows slowly; nothing is NaN yet.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.training import GRADIENT_NOISE


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Raise the gradient norm."""
    gradient = list(knobs.gradient.values())[index]
    gradient.factor = fault.severity ** level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the creeping norm; where the loss follows, what loss and norm can be told from."""
    return (
        "TRN-05",
        "TRN-02",
        "TRN-03",
    )


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the climb in log over the noise of the window's steps."""
    job = next(own for own in scenario.job if fault.entity == f"job/{own.name}")
    steps = max(PERSISTENCE_SECONDS / job.step_seconds, 1.0)
    return cut(math.log(fault.severity) / (GRADIENT_NOISE / math.sqrt(steps)))


GRADIENTS_CREEP = Mode(
    name="gradients_creep",
    layer="job",
    entity_kind="job",
    severity_help="factor that the gradient norm comes to",
    severities=(4.0, 20.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
