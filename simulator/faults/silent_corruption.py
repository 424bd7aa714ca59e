"""A GPU computes wrong numbers: a step that is computed again elsewhere gives another loss.

Shows as the mismatch that the job's own check reports, and a jump of the loss.
"""

from simulator.faults.fault import Mode, always, comes
from simulator.knobs import Knobs
from simulator.scenario import Fault

TEXT = "replay of step 4100: loss 2.3817, elsewhere 2.3790"


def act(fault: Fault, index: int, seconds: float, knobs: Knobs) -> None:
    """Tell the mismatch."""
    if comes(fault, seconds, knobs.beat):
        knobs.tell("rank", index, "rank.replay_mismatch:loss", TEXT, "critical")


def expected(fault: Fault) -> tuple[str, ...]:
    """Return silent corruption, or what depends on the machine: a mismatch alone tells no more."""
    return (
        "GPU-CORE-10",
        "TRN-04",
    )


SILENT_CORRUPTION = Mode(
    name="silent_corruption",
    layer="job",
    entity_kind="rank",
    severity_help="mismatches; the code is the same",
    severities=(1.0, 4.0),
    heals=False,
    act=act,
    expected=expected,
    d_prime=always,
)
