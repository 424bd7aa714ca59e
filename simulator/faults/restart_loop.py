"""A job fails at the same point again and again: a bad batch or a broken checkpoint.

Shows as restarts without progress and the same line in the log.
"""

from simulator.faults.fault import Mode, active, always
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """End the job again and again."""
    every = 60.0 * fault.severity
    since = seconds - fault.onset_seconds
    if active(fault, seconds) and since % every < knobs.beat:
        knobs.aborted[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return the loop."""
    return ("TRN-10",)


RESTART_LOOP = Mode(
    name="restart_loop",
    layer="job",
    entity_kind="job",
    severity_help="minutes from start to failure",
    severities=(2.5, 4.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
