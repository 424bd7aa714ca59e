"""Which lines of a training log are errors that the runbook knows: one table, first fit wins.

Shapes as PyTorch, NCCL, CUDA and the C library print them (`ProcessGroupNCCL.cpp`,
`net_ib.cc`, `CUDACachingAllocator.cpp`, `errno.h`); tests hold lines of each.
"""

import re

from exporters.job.lines import Note
from forewarn.records import Severity

MAX_TEXT = 300  # characters of the line that go with the event
# "[rank3]:", "[Rank 3]", "[PG 1 Rank 3]": who wrote the line, where it says so.
_RANK = re.compile(r"\[(?:PG [^\]]*)?[Rr]ank ?(?P<rank>\d{1,7})\]")


def _rule(pattern: str, code: str, severity: Severity) -> tuple[re.Pattern[str], str, Severity]:
    return re.compile(pattern), code, severity


RULES = (
    _rule(r"OutOfMemoryError|CUDA out of memory|CUDA_ERROR_OUT_OF_MEMORY",
          "cuda.error:oom", "major"),
    _rule(r"Error 802: system not yet initialized", "cuda.error:802", "major"),
    _rule(r"Error 803: system has unsupported display driver", "cuda.error:803", "major"),
    _rule(r"Watchdog caught collective operation timeout", "nccl.error:watchdog_timeout", "major"),
    _rule(r"NET/IBP? ?: ?Got completion from peer .*(?:status|error)[= ](?:\w+\()?12\b",
          "nccl.error:ib_error_12", "major"),
    _rule(r"NET/IBP? ?: ?Got completion from peer .*(?:status|error)[= ]",
          "nccl.error:ib_error", "major"),
    _rule(r"ncclRemoteError", "nccl.error:remote_error", "major"),
    _rule(r"Bus error\. It is possible that dataloader|insufficient shared memory \(shm\)"
          r"|No space left on device.*/dev/shm|/dev/shm.*No space left on device",
          "job.log_event:shm", "major"),
    _rule(r"No space left on device", "job.log_event:enospc", "major"),
    _rule(r"Disk quota exceeded", "job.log_event:edquot", "major"),
    _rule(r"Too many open files", "job.log_event:emfile", "major"),
    _rule(r"ibv_reg_mr\w* failed with error Cannot allocate memory", "job.log_event:memlock",
          "major"),
    _rule(r"NVML: Driver/library version mismatch", "job.log_event:nvml_version_mismatch", "minor"),
)  # fmt: skip


def read(line: str, time_unix_nano: int) -> tuple[Note, int | None] | None:
    """Return what an error line tells and the rank that wrote it (None where it does not say)."""
    for pattern, code, severity in RULES:
        if pattern.search(line):
            rank = _RANK.search(line)
            note = Note(code, time_unix_nano, severity, line.strip()[:MAX_TEXT])
            return note, int(rank["rank"]) if rank else None
    return None
