"""The lines that `forewarn.reporter` sends, typed; what does not fit is an error that says why."""

from typing import Annotated, Literal

import msgspec

from forewarn.errors import ForewarnError
from forewarn.records import Severity

Number = float | Literal["nan", "inf", "-inf"]
Small = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
# JSON knows no limit for whole numbers; a float64 holds these exactly.
Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
Total = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Time = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
MAX_DEVICES = 64
Phase = Literal["checkpoint", "evaluation"]
Edge = Literal["begin", "end"]


class LineError(ForewarnError):
    """A line is no report."""


class _Line(msgspec.Struct, frozen=True, tag_field="kind"):
    """Fields that a newer reporter adds are passed over."""


class Hello(_Line, frozen=True, tag="hello"):
    """The first line of a connection: who reports, and where it runs."""

    job: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    rank: Small
    world_size: Small
    pid: Whole
    started_unix_nano: Time
    leader: bool
    resumed: bool = False
    devices: Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_DEVICES)] = ()
    stage: Small | None = None
    tensor: Small | None = None
    parameters: Total | None = None  # of the model
    placed: bool = True  # False where a log was read: nobody knows which rank wrote it, or where


class Step(_Line, frozen=True, tag="step"):
    """A step has ended."""

    step: Whole
    time_unix_nano: Time
    skipped: bool | Small = False  # or how many were, since the last report
    loss: Number | None = None
    gradient_norm: Number | None = None
    step_seconds: Number | None = None
    tokens: Number | None = None
    samples: Number | None = None
    compute_seconds: Number | None = None
    data_seconds: Number | None = None
    communication_seconds: Number | None = None
    mfu: Number | None = None
    loss_scale: Number | None = None
    flops_per_second: Number | None = None  # per device
    energy_joules: Number | None = None  # per device


class Span(_Line, frozen=True, tag="span"):
    """A checkpoint or an evaluation begins or has ended."""

    what: Phase
    edge: Edge
    time_unix_nano: Time
    seconds: float = 0.0


class Note(_Line, frozen=True, tag="event"):
    """Something with a code."""

    code: Annotated[str, msgspec.Meta(max_length=256)]
    time_unix_nano: Time
    severity: Severity = "minor"
    text: str = ""


class Dropped(_Line, frozen=True, tag="dropped"):
    """How many lines the reporter had to drop since it started."""

    total: Total


class Close(_Line, frozen=True, tag="close"):
    """The rank ends on purpose."""

    state: Literal["completed", "failed", "cancelled", "preempted"]
    time_unix_nano: Time


Line = Hello | Step | Span | Note | Dropped | Close
_decoder = msgspec.json.Decoder(Line)


def parse(data: bytes) -> Line:
    """Read one line. Raises LineError."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineError(str(error)) from error
