"""A root port reports a fatal error: a process on that node dies, the job fails and starts anew.

Intermittent comes again with every beat; gradual is as sudden.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "pcieport 0000:1a:01.0: AER: Uncorrected (Fatal) error received: 0000:1b:00.0"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the code and let a process die."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("node", index, "kernel.aer:fatal", TEXT, "critical")
        knobs.crashed[index * knobs.width] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the fatal error."""
    return ("PCIE-03",)


PCIE_FATAL = Mode(
    name="pcie_fatal",
    layer="pcie",
    entity_kind="node",
    severity_help="errors; the code is the same",
    severities=(1.0, 4.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
