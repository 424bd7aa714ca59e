"""What a job says in one second: finished steps, changes of its state, lines of its log."""

import msgspec

from simulator.fleet import Floats


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """One finished step: durations in seconds, one a rank where they are arrays.

    `seconds` is when it ended, since the start of the run; `exchange` is each rank's communication
    time, waiting for slower ranks included.
    """

    job: str
    seconds: float
    step: int
    step_seconds: float
    compute: Floats
    data: Floats
    exchange: Floats
    loss: float
    gradient_norm: float
    checkpoint_seconds: float | None


class PhaseChange(msgspec.Struct, frozen=True):
    """A change of the job's state at `seconds` since the start; `detail` says of what or why."""

    job: str
    state: str
    seconds: float
    detail: str


class LogLine(msgspec.Struct, frozen=True):
    """A known line in the log of one rank, with its code."""

    job: str
    rank: int
    seconds: float
    code: str
    text: str


Said = StepReport | PhaseChange | LogLine
