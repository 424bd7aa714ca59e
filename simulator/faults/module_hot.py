"""The transceiver of one port overheats: its cage has no air.

Shows as module temperature beyond its limit and the module's own warning.
"""

from simulator.faults.fault import Mode, always, begins, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "mlx5_core: Port module event: module 0, Cable error, High Temperature"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Warm the module; it warns when it is hot."""
    knobs.optic_kelvin[index] = fault.severity * level(fault, seconds)
    if begins(fault, seconds, knobs.beat):
        knobs.tell("nic_port", index, "nic.module_event:overheated", TEXT, "major")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the hot transceiver."""
    return ("NIC-05",)


MODULE_HOT = Mode(
    name="module_hot",
    layer="nic",
    entity_kind="nic_port",
    severity_help="kelvin by which it is hotter",
    severities=(26.0, 34.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
