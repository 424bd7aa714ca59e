"""What a training process imports to report its steps to the agent of its node.

    from forewarn.reporter import Reporter

    with Reporter("4711", rank=rank, world_size=size) as report:
        for step in range(steps):
            ...
            report.step(step, loss=float(loss), tokens=tokens)

Standard library only, one file, Python 3.8 or later. Nothing in here raises into the training loop
and nothing waits in it: lines go through a bounded queue to a thread that owns the connection.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import math
import os
import socket as sockets
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

logger = logging.getLogger(__name__)
VERSION = 1
CAPACITY = 10_000  # lines held while the agent is away
WORD, TEXT = 256, 2000  # characters of a code and of a text: a queue of lines bounds no bytes
RETRY_SECONDS = 0.5
SEND_SECONDS = 1.0
CLOSE_SECONDS = 2.0
SHARED_SOCKET = "/run/forewarn/reporter.sock"
# How a job can end, by what people call it.
ENDS = {
    word: state
    for state, words in {
        "completed": "completed complete finished done ended success succeeded successful ok",
        "failed": "failed failure fail error errored crashed crash",
        "cancelled": "cancelled canceled stopped aborted interrupted killed",
        "preempted": "preempted evicted",
    }.items()
    for word in words.split()
}
_Call = TypeVar("_Call", bound="Callable[..., Any]")
_reporters: weakref.WeakSet[Reporter] = weakref.WeakSet()


def default_socket() -> str:
    """Return where the agent listens: FOREWARN_SOCKET, a shared one if it is there, the user's."""
    if "FOREWARN_SOCKET" in os.environ:
        return os.environ["FOREWARN_SOCKET"]
    if os.path.exists(SHARED_SOCKET):  # noqa: PTH110 - runs in every constructor, stays light
        return SHARED_SOCKET
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111
    folder = os.environ.get("FOREWARN_STATE") or os.path.join(state, "forewarn")  # noqa: PTH118
    return os.path.join(folder, "reporter.sock")  # noqa: PTH118


def _safe(call: _Call) -> _Call:
    """Turn whatever a method raises into a count and one log line: training goes on."""

    def guarded(self: Reporter, *args: Any, **kwargs: Any) -> Any:
        try:
            return call(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the promise of this file
            self._fault(f"{call.__name__}: {type(error).__name__}: {error}")
            return None

    guarded.__name__, guarded.__doc__ = call.__name__, call.__doc__
    return guarded  # type: ignore[return-value]


class Reporter:
    """Reports one rank of one job.

    `job` names the job (the scheduler's id, say). `rank` and `world_size` default to RANK and
    WORLD_SIZE of the environment. `devices` are the PCI addresses of the rank's accelerators
    (`0000:1a:00.0`) or entities; `stage` and `tensor` the rank's place in pipeline and tensor
    parallelism. The rank whose loss speaks for the job is the `leader`: rank 0 unless told.
    `parameters` is how many the model has: jobs with as many on as many of the same devices are
    compared with each other.
    """

    def __init__(
        self,
        job: object,
        rank: int | None = None,
        world_size: int | None = None,
        devices: Iterable[str] = (),
        stage: int | None = None,
        tensor: int | None = None,
        socket: str | os.PathLike[str] | None = None,
        leader: bool | None = None,
        parameters: float | None = None,
    ) -> None:
        self.faults = 0
        self.dropped = 0
        self._told = False
        self._closed = False
        self._path = ""
        self._hello: dict[str, Any] = {}
        self._step_number = -1
        self._step_ended = 0.0
        self._paused_seconds = 0.0
        self._reset()
        self._introduce(job, rank, world_size, devices, stage, tensor, leader, socket, parameters)
        atexit.register(self._at_exit)
        _reporters.add(self)

    def _reset(self) -> None:
        """Start with an empty queue and no thread: at first, and in a forked child."""
        self._lines: deque[bytes] = deque()
        self._sending = b""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._connection: sockets.socket | None = None
        self._connections = 0
        self._told_dropped = 0
        self._ending = False

    @_safe
    def _introduce(
        self, job: object, rank: int | None, world_size: int | None, devices: Iterable[str],
        stage: int | None, tensor: int | None, leader: bool | None,
        socket: str | os.PathLike[str] | None, parameters: float | None,
    ) -> None:  # fmt: skip
        self._path = "" if socket is None else os.fspath(socket)
        rank = int(os.environ.get("RANK", "0")) if rank is None else int(rank)
        size = int(os.environ.get("WORLD_SIZE", "1")) if world_size is None else int(world_size)
        self._hello = {
            "kind": "hello",
            "version": VERSION,
            "job": str(job),
            "rank": rank,
            "world_size": size,
            "devices": [devices] if isinstance(devices, str) else [str(d) for d in devices],
            "stage": None if stage is None else int(stage),
            "tensor": None if tensor is None else int(tensor),
            "leader": rank == 0 if leader is None else bool(leader),
            "started_unix_nano": time.time_ns(),
            "parameters": None if parameters is None else int(parameters),
        }

    @_safe
    def step(
        self,
        step: int | None = None,
        *,
        loss: float | None = None,
        gradient_norm: float | None = None,
        step_seconds: float | None = None,
        tokens: float | None = None,
        samples: float | None = None,
        compute_seconds: float | None = None,
        data_seconds: float | None = None,
        communication_seconds: float | None = None,
        mfu: float | None = None,
        loss_scale: float | None = None,
        skipped: bool = False,
        **unknown: object,
    ) -> None:
        """Tell that a step has ended.

        `tokens` and `samples` are those of the whole job in this step; `mfu` is a ratio, 0 to 1;
        `skipped` says that the optimizer left the step out. Without `step_seconds` the time since
        the last call counts, less checkpoints and evaluations. Pass plain numbers: turning a
        tensor of a device into one waits for the device.
        """
        if unknown:
            self._fault(f"step: unknown {', '.join(sorted(unknown))}")
        self._step_number = self._step_number + 1 if step is None else int(step)
        measured = self._lap()
        values = {
            "loss": loss,
            "gradient_norm": gradient_norm,
            "step_seconds": measured if step_seconds is None else step_seconds,
            "tokens": tokens,
            "samples": samples,
            "compute_seconds": compute_seconds,
            "data_seconds": data_seconds,
            "communication_seconds": communication_seconds,
            "mfu": mfu,
            "loss_scale": loss_scale,
        }
        numbers = {k: self._number(k, v) for k, v in values.items() if v is not None}
        self._put(kind="step", step=self._step_number, skipped=bool(skipped), **numbers)

    def _lap(self) -> float | None:
        """Return the seconds since the last step, pauses left out; None for the first."""
        now = time.monotonic()
        lap = now - self._step_ended - self._paused_seconds if self._step_ended else None
        self._step_ended, self._paused_seconds = now, 0.0
        return lap

    def _number(self, name: str, value: Any) -> float | str | None:
        """Return a number as JSON can hold it; one that is none is a fault, not an error."""
        try:
            number = float(value)
        except Exception:  # noqa: BLE001 - a tensor raises what it likes; the others still count
            self._fault(f"step: {name} is {type(value).__name__}, expected a number")
            return None
        if math.isfinite(number):
            return number
        return "nan" if math.isnan(number) else ("inf" if number > 0 else "-inf")

    def checkpoint(self) -> contextlib.AbstractContextManager[None]:
        """Mark a checkpoint: `with report.checkpoint(): save()`."""
        return self._span("checkpoint")

    def evaluation(self) -> contextlib.AbstractContextManager[None]:
        """Mark an evaluation: `with report.evaluation(): evaluate()`."""
        return self._span("evaluation")

    @contextlib.contextmanager
    def _span(self, what: str) -> Iterator[None]:
        begin = time.monotonic()
        self._mark(what, "begin", 0.0)
        try:
            yield
        finally:
            seconds = time.monotonic() - begin
            self._paused_seconds += seconds
            self._mark(what, "end", seconds)

    @_safe
    def _mark(self, what: str, edge: str, seconds: float) -> None:
        self._put(kind="span", what=what, edge=edge, seconds=seconds)

    @_safe
    def event(self, code: str, text: str = "", severity: str = "minor") -> None:
        """Tell of something with a code, as in `nccl.error:watchdog_timeout`."""
        short = {"code": str(code)[:WORD], "severity": str(severity)[:WORD]}
        self._put(kind="event", text=str(text)[:TEXT], **short)

    @_safe
    def close(self, state: str = "completed", timeout_seconds: float = CLOSE_SECONDS) -> None:
        """Tell how the job ended and hand over what is queued, for at most `timeout_seconds`.

        `state` is completed, failed, cancelled or preempted, or a word that means one of them, as
        `finished`. Another word is a fault, and the end counts as if nothing had been said of it:
        failed if an exception is on its way, else completed.
        """
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._at_exit)
        self._put(kind="close", state=self._ended(state))
        end = time.monotonic() + timeout_seconds
        with self._changed:
            self._ending = True
            self._changed.notify_all()
            while (self._lines or self._sending) and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
        if self._thread is not None:
            self._thread.join(max(0.0, end - time.monotonic()))

    def _ended(self, state: object) -> str:
        """Return one of the four ends that a word means."""
        said = str(state)[:WORD].strip().lower()
        if said in ENDS:
            return ENDS[said]
        known = ", ".join(dict.fromkeys(ENDS.values()))
        self._fault(f"close: unknown state {said!r}; one of {known}")
        return _state(sys.exc_info()[0])

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close(_state(kind))

    def _at_exit(self) -> None:
        """Close for a process that forgot to: failed if an exception ended it."""
        if self._pid == os.getpid() and self._thread is not None:
            self.close(_state(getattr(sys, "last_type", None)))

    def _put(self, **record: Any) -> None:
        """Queue one line; the oldest goes when the queue is full."""
        if not self._hello:
            return
        record["time_unix_nano"] = time.time_ns()
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        with self._changed:
            self._lines.append(line)
            if len(self._lines) > CAPACITY:
                self._lines.popleft()
                self.dropped += 1
            self._changed.notify_all()
            self._ensure_thread()

    def _ensure_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="forewarn", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while self._waiting():
            if not self._deliver():
                time.sleep(RETRY_SECONDS)
        self._disconnect()

    def _waiting(self) -> bool:
        """Wait for a line; False at the end."""
        with self._changed:
            while not self._lines and not self._ending:
                self._changed.wait()
            return bool(self._lines)

    def _deliver(self) -> bool:
        """Send the oldest line, connecting first if need be; say whether it went out."""
        try:
            connection = self._connection or self._connect()
            if self.dropped != self._told_dropped:
                told = {"kind": "dropped", "total": self.dropped}
                connection.sendall(json.dumps(told).encode() + b"\n")
                self._told_dropped = self.dropped
        except OSError:
            self._disconnect()
            return False
        return self._send(connection)

    def _send(self, connection: sockets.socket) -> bool:
        """Send the oldest line; while it is on its way nobody drops it."""
        with self._changed:
            self._sending = self._lines.popleft()
        try:
            connection.sendall(self._sending)
        except OSError:
            self._disconnect()
            with self._changed:
                self._lines.appendleft(self._sending)
                self._sending = b""
            return False
        with self._changed:
            self._sending = b""
            self._changed.notify_all()
        return True

    def _connect(self) -> sockets.socket:
        connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        try:
            connection.settimeout(SEND_SECONDS)
            connection.connect(self._path or default_socket())
            hello = {**self._hello, "pid": os.getpid(), "resumed": self._connections > 0}
            connection.sendall(json.dumps(hello).encode() + b"\n")
        except OSError:
            connection.close()
            raise
        self._connections += 1
        self._told_dropped = 0
        self._connection = connection
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _fault(self, text: str) -> None:
        """Count a fault; the first is logged."""
        self.faults += 1
        if not self._told:
            self._told = True
            logger.warning("forewarn: a report was not understood (told once): %s", text)

    def _forked(self) -> None:
        """Let go of what belongs to the parent: its lines, its thread, its connection.

        The connection must be closed here, else the agent would not see the parent end.
        """
        self._disconnect()
        self._reset()
        self.dropped = 0


def _state(error: object) -> str:
    """Return how a job ended that left with an exception of this type, or without."""
    if error is None:
        return "completed"
    return "cancelled" if error is KeyboardInterrupt else "failed"


def _after_fork() -> None:
    for reporter in list(_reporters):
        reporter._forked()


os.register_at_fork(after_in_child=_after_fork)
