"""A job's loss becoming NaN: the gradient norm climbs over many steps, then everything is NaN.

Gradual climbs over `ramp_seconds`; intermittent climbs and falls back twice before it stays;
sudden gives no warning at all. NaN in the weights does not heal.
"""

import math

from simulator.faults.fault import BURSTS, D_PRIME_MOST, PERSISTENCE_SECONDS, Mode, cut
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario
from simulator.training import GRADIENT_NOISE


def _climb(fault: Fault, since: float) -> float:
    """Return how far the norm has climbed towards the NaN: 1 and beyond is NaN."""
    if fault.form == "gradual":
        return since / fault.ramp_seconds
    if fault.form == "intermittent":
        burst, within = divmod(since, fault.on_seconds + fault.off_seconds)
        share = within / fault.on_seconds
        return share if burst >= BURSTS else (share if share < 1.0 else 0.0)
    return 1.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Raise the gradient norm exponentially; at the end of the climb all is NaN."""
    since = seconds - fault.onset_seconds
    if since < 0:
        return
    gradient, climb = list(knobs.gradient.values())[index], _climb(fault, since)
    gradient.factor = fault.severity ** min(climb, 1.0)
    gradient.is_nan = gradient.is_nan or climb >= 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return numerics; without a climb a NaN alone cannot tell numerics from a bad machine.

    SYM-02's first question: a climb of many steps speaks for numerics (TRN-03); sudden is TRN-03,
    TRN-04 or silent corruption, which only a replay on other nodes tells apart.
    """
    if fault.form == "sudden":
        return ("TRN-03", "TRN-04", "GPU-CORE-10")
    return ("TRN-03",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the climb in log over the noise of the window's steps; a NaN at once has no noise."""
    if fault.form == "sudden":
        return D_PRIME_MOST
    job = next(own for own in scenario.job if fault.entity == f"job/{own.name}")
    steps = max(PERSISTENCE_SECONDS / job.step_seconds, 1.0)
    return cut(math.log(fault.severity) / (GRADIENT_NOISE / math.sqrt(steps)))


LOSS_NAN = Mode(
    name="loss_nan",
    layer="job",
    entity_kind="job",
    severity_help="factor that the gradient norm has reached when everything becomes NaN",
    severities=(10.0, 60.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
