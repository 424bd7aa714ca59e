"""One rack's coolant path clogs: its valve opens as far as it can, then flow falls.

Shows as that rack's flow below its peers' with the valve open, pressure across it and return
temperature up, its GPUs warmer; the loop's flow stays.
"""

import math

import numpy as np

from simulator.coolant import FLOW_NOISE, VALVE_RATIO, conductance
from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

READING_SECONDS = 10.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Clog the path."""
    knobs.clogged[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the restricted rack."""
    return ("FAC-05",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the flow lost, once the valve is open, over the sensor's noise in the window."""
    path, valve = np.array(1.0 - fault.severity), np.array(1.0 / VALVE_RATIO)
    lost = max(1.0 - float(conductance(valve, path)), 0.0)
    readings = PERSISTENCE_SECONDS / READING_SECONDS
    return cut(lost / (FLOW_NOISE / math.sqrt(readings)))


RACK_RESTRICTED = Mode(
    name="rack_restricted",
    layer="facility",
    entity_kind="rack",
    severity_help="share of the path's conductance that is lost (the valve makes up for 0.23)",
    severities=(0.38, 0.85),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
    cooling="liquid",
    most=0.97,
)
