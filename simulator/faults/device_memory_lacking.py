"""A rank asks for more device memory than there is: it dies, the job fails and starts anew.

Shows as the line in the log; intermittent fails again with every beat.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the line and let the process die."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("rank", index, "cuda.error:oom", TEXT, "major")
        knobs.crashed[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the lack of device memory."""
    return ("HOST-04",)


DEVICE_MEMORY_LACKING = Mode(
    name="device_memory_lacking",
    layer="job",
    entity_kind="rank",
    severity_help="processes that die; the line is the same",
    severities=(1.0, 8.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
