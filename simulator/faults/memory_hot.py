"""The memory of one GPU runs hotter than its core explains: a pad beside the core lost contact.

Shows as memory temperature beyond its limit while the core's is as ever.
"""

from simulator.faults.fault import Mode, cut, level
from simulator.faults.thermal_paste import noise_celsius
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.scenario import Fault, Scenario


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Warm the memory."""
    knobs.memory_kelvin[index] = fault.severity * level(fault, seconds)


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the overheating memory."""
    return ("GPU-TP-05",)


def d_prime(fault: Fault, scenario: Scenario, machines: Machines) -> float:
    """Return the rise over the noise of a temperature in the window."""
    return cut(fault.severity / noise_celsius(scenario))


MEMORY_HOT = Mode(
    name="memory_hot",
    layer="gpu",
    entity_kind="gpu",
    severity_help="kelvin by which the memory is hotter",
    severities=(30.0, 45.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=d_prime,
)
