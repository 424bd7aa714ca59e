"""Frames from bytes to what the engine takes: a plan per layout, restarts, losses, clocks.

Nothing here touches a sample: the layout's plan says where values go, the engine joins frames.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence

import msgspec
import numpy as np

from detector.families.progress import WATCHED
from detector.series import BLOCK, Ints, Series
from detector.telling import Telling
from forewarn import entity as entities
from forewarn import wire
from forewarn.bus import Message
from forewarn.deadletter import DeadLetters
from forewarn.errors import WireError
from forewarn.records import NANOSECONDS, Frame

MAX_AHEAD_SECONDS = 5.0  # docs: a frame further ahead of its append time is taken at append time
MAX_PLANS = 65_536


class Part(msgspec.Struct, frozen=True):
    """The positions of a layout that live in one block; `positions` None means all, in order."""

    block: int
    local: Ints
    positions: Ints | None


class Plan:
    """What to do with the values of one layout.

    `watched` are the positions that the progress family reads: (position, job entity, signal).
    The series get their slots when the plan is first scored, not when it arrives: sums over slots
    are rounded in their order, and nothing may depend on the order within a second.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], series: Series) -> None:
        self._pairs, self._series = pairs, series
        self._parts: tuple[Part, ...] | None = None
        self.size = len(pairs)
        self.watched = tuple(
            (at, entity, name)
            for at, (name, entity) in enumerate(pairs)
            if name in WATCHED and entities.kind(entity) == "job"
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the positions by block."""
        if self._parts is None:
            slots = self._series.place(self._pairs)
            numbers = slots // BLOCK
            self._parts = tuple(
                Part(int(number), slots[at] % BLOCK, None if len(at) == len(slots) else at)
                for number in np.unique(numbers)
                for at in [np.flatnonzero(numbers == number)]
            )
        return self._parts


class Item(msgspec.Struct, frozen=True):
    """One usable frame: where it came from, its plan, and the time it is taken at."""

    message: Message
    frame: Frame
    plan: Plan
    seconds: float
    rebooted: bool
    stream: tuple[str, str]  # (node, source), whose frames come in order
    ahead_seconds: float = 0.0  # > 0: its clock was this far ahead of the append time


class _Stream:
    """What is remembered of one (node, source)."""

    __slots__ = ("boot", "layout", "plan", "seq", "time")

    def __init__(self) -> None:
        self.boot, self.seq, self.time = "", -1, 0
        self.layout = b""
        self.plan: Plan | None = None


class Decoder:
    """Reads frames; counts what is lost, repeated and unusable, and dead-letters the last."""

    def __init__(self, series: Series, dead: DeadLetters, telling: Telling) -> None:
        self._series, self._dead, self._telling = series, dead, telling
        self._plans: OrderedDict[bytes, Plan] = OrderedDict()
        self._streams: dict[tuple[str, str, str], _Stream] = {}

    def read(self, message: Message) -> Item | None:
        """Return the frame of a message, or None where it is a repeat or cannot be used."""
        try:
            frame = wire.decode_frame(message.value)
            stream = self._stream(message.topic, frame)
            if self._repeated(stream, frame):
                self._telling.duplicates.inc()
                return None
            plan = self._plan(stream, frame.layout)
            wire.check_size(frame, plan.size)
        except WireError as error:
            self._dead.send(error.reason, str(error), message)
            return None
        return self._item(message, frame, stream, plan)

    def _stream(self, topic: str, frame: Frame) -> _Stream:
        key = (topic, frame.node, frame.source)
        if key not in self._streams:
            self._streams[key] = _Stream()
        return self._streams[key]

    @staticmethod
    def _repeated(stream: _Stream, frame: Frame) -> bool:
        """Delivery is at least once. A restarted agent counts anew, but its clock goes on."""
        known = stream.boot == frame.boot_id and frame.seq <= stream.seq
        return known and frame.time_unix_nano <= stream.time

    def _item(self, message: Message, frame: Frame, stream: _Stream, plan: Plan) -> Item:
        rebooted = bool(stream.boot) and stream.boot != frame.boot_id
        if not rebooted and stream.seq >= 0 and frame.seq > stream.seq + 1:
            self._telling.lost.inc(frame.seq - stream.seq - 1)
        stream.boot, stream.seq, stream.time = frame.boot_id, frame.seq, frame.time_unix_nano
        node = message.topic == "frames"
        (self._telling.node_frames if node else self._telling.job_frames).inc()
        appended = message.append_time_unix_nano
        own = (frame.node, frame.source)
        ahead = (frame.time_unix_nano - appended) / NANOSECONDS
        if ahead <= MAX_AHEAD_SECONDS:
            return Item(message, frame, plan, frame.time_unix_nano / NANOSECONDS, rebooted, own)
        self._telling.ahead.inc()
        return Item(message, frame, plan, appended / NANOSECONDS, rebooted, own, ahead)

    def _plan(self, stream: _Stream, layout: bytes) -> Plan:
        """Find the plan by the layout's very bytes; the stream's last one is tried first."""
        if stream.plan is not None and stream.layout == layout:
            return stream.plan
        plan = self._plans.get(layout)
        if plan is None:
            plan = self._plans[layout] = self._make(layout)
            if len(self._plans) > MAX_PLANS:
                self._plans.popitem(last=False)
        stream.layout, stream.plan = layout, plan
        return plan

    def _make(self, layout: bytes) -> Plan:
        """Validate a layout. Raises WireError."""
        pairs = wire.decode_layout(layout).pairs()
        if len(set(pairs)) < len(pairs):
            (twice, _), *_ = Counter(pairs).most_common(1)
            raise WireError("bad_layout", f"layout: {twice[0]} of {twice[1]} stands twice")
        return Plan(pairs, self._series)
