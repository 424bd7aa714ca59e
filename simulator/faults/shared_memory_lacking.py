"""A job asks for more shared memory than its container has: a loader dies, the job fails.

Shows as the line in the log; intermittent fails again with every beat.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "DataLoader worker is killed by signal: Bus error. insufficient shared memory (shm)"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the line and let the process die."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("rank", index, "job.log_event:shm", TEXT, "major")
        knobs.crashed[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the limit."""
    return ("HOST-11",)


SHARED_MEMORY_LACKING = Mode(
    name="shared_memory_lacking",
    layer="job",
    entity_kind="rank",
    severity_help="processes that die; the line is the same",
    severities=(1.0, 8.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
