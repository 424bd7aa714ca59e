"""A feed carries more than it should: somebody else hangs on it.

Shows as current and breaker load beyond 80 % of the rating, with the racks drawing what they did.
"""

from simulator.faults.fault import Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

SWINGS = 0.05  # of the rating, one sigma, with jobs in step


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Draw from the feed."""
    knobs.foreign_share[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the breaker close to its limit."""
    return ("FAC-08",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise over the swings of the racks' own draw, which follow the jobs."""
    return cut(fault.severity / SWINGS)


FEED_OVERLOADED = Mode(
    name="feed_overloaded",
    layer="facility",
    entity_kind="pdu",
    severity_help="share of the rating that others draw",
    severities=(0.4, 0.6),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
