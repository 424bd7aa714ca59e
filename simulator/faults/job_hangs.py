"""A job stands still: a rank waits for ever outside of a collective, the others for it.

Shows as steps that do not end; after ten minutes the watchdog of the collectives ends the job.
"""

from simulator.faults.fault import Mode, always, level
from simulator.knobs import Knobs
from simulator.scenario import Fault


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Let it hang."""
    if level(fault, seconds) >= 1.0:
        knobs.stuck[index] = 1.0


def expected(fault: Fault) -> tuple[str, ...]:
    """Return what a standstill can be: which rank hangs only its stack would tell."""
    return (
        "COMM-01",
        "COMM-02",
        "GPU-CORE-11",
    )


JOB_HANGS = Mode(
    name="job_hangs",
    layer="job",
    entity_kind="job",
    severity_help="ranks that hang; one is enough",
    severities=(1.0, 8.0),
    heals=True,
    act=act,
    expected=expected,
    d_prime=always,
)
