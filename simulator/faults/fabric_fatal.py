"""The scale-up switch of one node has a fatal error (SXid): the job there fails.

Intermittent comes again with every beat; gradual is as sudden.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 28 LTSSM Fault Up"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and let a process die."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("node", index, "nvidia.sxid:fatal", TEXT, "critical")
        knobs.crashed[index * knobs.width] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the fatal switch error."""
    return ("NVL-04",)


FABRIC_FATAL = Mode(
    name="fabric_fatal",
    layer="scale_up",
    entity_kind="node",
    severity_help="errors; the code is the same",
    severities=(1.0, 8.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
