"""The kernel of one node reports a task that hangs: a process of the job waits for ever.

Shows as the kernel's message and its count, waiting for input, steps that do not end.
"""

from simulator.faults.fault import Mode, always, begins, level
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "INFO: task python:41877 blocked for more than 122 seconds."


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Let a process hang."""
    if level(fault, seconds) < 1.0:
        return
    knobs.hanging[index], knobs.waiting_io[index] = 1.0, fault.severity
    if begins(fault, seconds, knobs.beat):
        knobs.hung[index] = 1.0
        knobs.tell("node", index, "kernel.event:hung_task", TEXT, "major")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the hanging task."""
    return ("HOST-02",)


TASK_HANGS = Mode(
    name="task_hangs",
    layer="host",
    entity_kind="node",
    severity_help="share of time that its processors wait",
    severities=(0.35, 0.9),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
    most=1.0,
)
