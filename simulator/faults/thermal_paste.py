"""Thermal paste going bad on one GPU: its thermal resistance rises, the core runs hot, throttles.

Shows as core and memory temperature above what load explains; where it comes near the limit, as
hardware thermal slowdown, and the rank on that GPU holding up its job.
"""

import math

from simulator.cooling import NODE_WANDER_CELSIUS
from simulator.faults.fault import PERSISTENCE_SECONDS, Mode, cut, level
from simulator.fleet import Machines
from simulator.gpu import SENSOR_NOISE_CELSIUS
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario

TRAINING_SHARE = 0.93  # of the dynamic power, over a step
QUANTUM_CELSIUS = 1.0


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Raise the thermal resistance of the paste."""
    knobs.paste[index] *= 1.0 + fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return hardware thermal slowdown, whose evidence tells one GPU from node and rack."""
    return ("GPU-TP-01",)


def noise_celsius(scenario: Scenario) -> float:
    """Return the healthy deviation of a core's mean temperature over the persistence window.

    Air wanders more slowly than the window, so it does not average out; the sensor's noise and its
    rounding (quantum / sqrt 12) do.
    """
    reading = math.hypot(SENSOR_NOISE_CELSIUS, QUANTUM_CELSIUS / math.sqrt(12))
    slow = math.hypot(scenario.fleet.cooling.wander_celsius, NODE_WANDER_CELSIUS)
    return math.hypot(slow, reading / math.sqrt(PERSISTENCE_SECONDS))


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise at training power, before the device protects itself, in noises."""
    hardware = machines.models[machines.gpus.index(fault.entity) // machines.width]
    watts = hardware.idle_watts + TRAINING_SHARE * hardware.dynamic_watts
    rise = fault.severity * hardware.paste_kelvin_per_watt * watts
    return cut(rise / noise_celsius(scenario))


THERMAL_PASTE = Mode(
    name="thermal_paste",
    layer="gpu",
    entity_kind="gpu",
    severity_help="share by which the paste's thermal resistance rises (0.5: by half)",
    severities=(0.7, 4.8),  # from 6 K on: less costs no clock and waits for the next service
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
