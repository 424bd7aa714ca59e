"""Runs commands beside each other with one deadline; one that hangs costs only itself."""

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence

import msgspec

MAX_BYTES = 4 << 20
READ_BYTES = 65_536


class Answer(msgspec.Struct, frozen=True):
    """How a command ended: its exit status and output, and how long it took.

    `code` is None if it gave no answer in time and was killed, or the last one still hangs.
    """

    code: int | None
    seconds: float = 0.0
    output: bytes = b""


class _Child:
    """One process that runs; its output is read as it comes, its end seen as its pipe closes."""

    def __init__(self, command: Sequence[str]) -> None:
        self.began = time.monotonic()
        self.output = b""
        self.pipe, end = os.pipe()
        try:
            self.process = subprocess.Popen(  # noqa: S603 - no shell; callers name the program
                command,
                stdin=subprocess.DEVNULL,
                stdout=end,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,
            )
        except OSError:
            os.close(self.pipe)
            raise
        finally:
            os.close(end)

    def read(self) -> bool:
        """Take what is there; say whether that was the end."""
        data = os.read(self.pipe, READ_BYTES)
        self.output = (self.output + data)[:MAX_BYTES]
        return not data


class Children:
    """The commands of one caller, by a key of its own; for one thread.

    A process that even a kill does not end (it waits in the kernel for a server that is gone) is
    kept, and its command is not started again before it is gone.
    """

    def __init__(self, deadline_seconds: float) -> None:
        self.deadline_seconds = deadline_seconds
        self.killed = 0
        self._stuck: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, commands: Mapping[str, Sequence[str]]) -> dict[str, Answer]:
        """Run all commands and return their answers by key. Raises OSError if one cannot start."""
        self._stuck = {key: one for key, one in self._stuck.items() if one.poll() is None}
        begun: dict[str, _Child] = {}
        answers = {key: Answer(None) for key in commands}
        try:
            for key, command in commands.items():
                if key not in self._stuck:
                    begun[key] = _Child(command)
            answers.update(self._gather(begun))
        finally:
            self._end(begun)
        return answers

    def _gather(self, begun: Mapping[str, _Child]) -> dict[str, Answer]:
        """Wait until all have answered or the time is over."""
        answers: dict[str, Answer] = {}
        end = time.monotonic() + self.deadline_seconds
        with selectors.DefaultSelector() as selector:
            for key, child in begun.items():
                selector.register(child.pipe, selectors.EVENT_READ, key)
            while selector.get_map() and (left := end - time.monotonic()) > 0:
                for ready, _ in selector.select(left):
                    child = begun[ready.data]
                    if child.read():
                        selector.unregister(ready.fileobj)
                        answers[ready.data] = self._ended(child)
        return answers

    @staticmethod
    def _ended(child: _Child) -> Answer:
        seconds = time.monotonic() - child.began
        try:
            code = child.process.wait(1.0)
        except subprocess.TimeoutExpired:  # closed its output and goes on: no answer
            return Answer(None, seconds)
        return Answer(code, seconds, child.output)

    def _end(self, begun: Mapping[str, _Child]) -> None:
        """Kill those that are not done, and remember the ones that survive it."""
        for key, child in begun.items():
            os.close(child.pipe)
            if child.process.poll() is None:
                child.process.kill()
                self.killed += 1
                self._reap(key, child.process)

    def _reap(self, key: str, process: "subprocess.Popen[bytes]") -> None:
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            self._stuck[key] = process
