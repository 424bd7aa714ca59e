"""The voltage of a feed sags: the utility, or a transformer that is overloaded.

Shows as voltage down and current up by as much.
"""

import math

from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.power import FEED_NOISE
from simulator.scenario import Fault, Scenario

READING_SECONDS = 10.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Lower the voltage."""
    knobs.sag[index] += fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the sag."""
    return ("FAC-09",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the sag over the noise of the window's readings."""
    readings = PERSISTENCE_SECONDS / READING_SECONDS
    return cut(fault.severity / (FEED_NOISE / math.sqrt(readings)))


VOLTAGE_SAGS = Mode(
    name="voltage_sags",
    layer="facility",
    entity_kind="pdu",
    severity_help="share of the voltage that is missing",
    severities=(0.08, 0.25),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
    most=0.9,
)
