"""An engine of one GPU stops: Xid 62, its process dies, the job fails.

Intermittent stops again with every beat; gradual is as sudden.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "NVRM: Xid (PCI:{pci}): 62, pid=41877, Internal micro-controller halt"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and let the process die."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("gpu", index, "nvidia.xid:62", TEXT, "critical")
        knobs.crashed[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the stopped engine."""
    return ("GPU-CORE-02",)


GPU_ENGINE_STOPPED = Mode(
    name="gpu_engine_stopped",
    layer="gpu",
    entity_kind="gpu",
    severity_help="how many engines stop; the code is the same",
    severities=(1.0, 4.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
