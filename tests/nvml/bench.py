"""The agent in a child process against the stand-in, and what it has sent, decoded."""

import base64
import json
import os
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import msgspec

from forewarn import wire
from forewarn.bus import Message, TopicName
from forewarn.records import Event, Frame, InventoryItem, Outcome
from tests.nvml.standin import Standin

ROOT = Path(__file__).parents[2]
Key = tuple[str, str]  # signal, and entity below the node
MINUTE = 60


class Seen(msgspec.Struct):
    """What came of one tick."""

    frames: list[dict[Key, float | str]]
    events: list[Event]
    items: dict[str, InventoryItem]
    log: list[str]
    binding: bool
    port: int  # of /metrics
    messages: list[tuple[str, str, bytes]]

    def values(self) -> dict[Key, float | str]:
        """Return the readings of all frames together: value, or outcome."""
        return {key: value for frame in self.frames for key, value in frame.items()}

    def of(self, gpu: str, signal: str) -> float | str | None:
        """Return one reading of a GPU by its slot."""
        return self.values().get((signal, f"gpu/{gpu}"))

    def codes(self) -> list[tuple[str, str]]:
        """Return (slot or node, code) of each event."""
        return [(event.entity.rpartition("/")[2], event.code) for event in self.events]


class Bench:
    """A child that ticks when told; each tick of a minute has everything due."""

    def __init__(self, folder: Path, library: Path | None, standin: Standin | None, **env: str):
        own = {**os.environ, "PYTHONPATH": str(ROOT), **env}
        own["LD_LIBRARY_PATH"] = str(library.parent) if library else ""
        own["STANDIN_STATE"] = str(standin.path) if standin else ""
        self._layouts = wire.LayoutCache()
        self._number: int | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.nvml.child", str(folder)],
            env=own, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def tick(self, seconds: int = MINUTE) -> Seen:
        """Let so many seconds pass on the agent's schedule, and read what is due then.

        The first tick reads everything, and so does one after a minute.
        """
        self._number = 0 if self._number is None else self._number + seconds
        return self._ask(self._number)

    def peek(self) -> Seen:
        """Return what was sent without a tick."""
        return self._ask(-1)

    def until(self, wanted: Callable[[Seen], object], seconds: int = 1, tries: int = 300) -> Seen:
        """Tick until something real has happened."""
        for _ in range(tries):
            seen = self.tick(seconds)
            if wanted(seen):
                return seen
        raise AssertionError("waited in vain")

    def _ask(self, number: int) -> Seen:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        messages = [(t, key, base64.b64decode(value)) for t, key, value in answer["sent"]]
        of: dict[str, list[bytes]] = {topic: [] for topic in get_args(TopicName)}
        for topic, _, value in messages:
            of[topic].append(value)
        items = [wire.decode_inventory(value) for value in of["inventory"]]
        return Seen(
            frames=[self._values(wire.decode_frame(value)) for value in of["frames"]],
            events=[wire.decode_event(value) for value in of["events"]],
            items={item.entity: item for item in items},
            log=answer["log"],
            binding=answer["binding"],
            port=answer["port"],
            messages=messages,
        )

    def _values(self, frame: Frame) -> dict[Key, float | str]:
        pairs = self._layouts.get(frame.layout).pairs()
        outcomes = frame.outcome or bytes(len(pairs))
        rows = zip(pairs, array("d", frame.values), outcomes, strict=True)
        return {
            (signal, entity.removeprefix("node/n7").lstrip("/")): value
            if outcome == Outcome.OK
            else Outcome(outcome).name
            for (signal, entity), value, outcome in rows
        }

    def kill(self) -> None:
        """Kill the child, as the kernel or a person does."""
        self._process.kill()
        self._process.communicate(timeout=60)

    def close(self) -> None:
        """End the child, if it has not been killed."""
        if self._process.poll() is not None:
            return
        self._process.communicate(timeout=60)


def as_messages(seen: list[Seen], start_unix_nano: int, step_seconds: int) -> list[Message]:
    """Return what was sent in these ticks as the bus would hand it on, `step_seconds` apart."""
    out: list[Message] = []
    for at, one in enumerate(seen):
        now = start_unix_nano + at * step_seconds * 1_000_000_000
        for topic, key, value in one.messages:
            moved = _moved(topic, value, now)
            out.append(Message(topic, key, moved, 0, len(out), now))  # type: ignore[arg-type]
    return out


def _moved(topic: str, value: bytes, now: int) -> bytes:
    """Return a record with its time replaced: ticks of a test come faster than seconds."""
    if topic == "frames":
        frame = wire.decode_frame(value)
        return wire.encode_frame(msgspec.structs.replace(frame, time_unix_nano=now))
    if topic == "events":
        event = wire.decode_event(value)
        return wire.encode_event(msgspec.structs.replace(event, time_unix_nano=now))
    return value
