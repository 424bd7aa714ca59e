"""The firmware of one network adapter stops answering: its link is dead, the job there fails.

Shows as the driver's word and the link going down.
"""

from simulator.faults.fault import Mode, active, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "mlx5_core: device's health compromised - reached miss count"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and cut the link."""
    if active(fault, seconds):
        knobs.cut[index] = 1.0
    if comes(fault, seconds, knobs.beat):
        knobs.tell("nic_port", index, "nic.fw_health:compromised", TEXT, "critical")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the dead firmware."""
    return ("NIC-10",)


ADAPTER_FIRMWARE = Mode(
    name="adapter_firmware",
    layer="nic",
    entity_kind="nic_port",
    severity_help="commands that time out; the code is the same",
    severities=(1.0, 8.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
