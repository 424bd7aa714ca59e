"""One-second ticks of event time: what belongs together, and when it is complete.

A tick closes when every live stream reported it or a later one, or 500 ms of append time after
its median frame. The very first waits until its streams have moved on, since nobody knows yet who
is live. What comes later for a closed tick joins the next one and is counted late.
"""

from collections.abc import Iterator

from detector.decode import Item
from forewarn.bus import Message, Position
from forewarn.records import NANOSECONDS, Event

WAIT_NANO = NANOSECONDS // 2
ALONE_NANO = 2 * NANOSECONDS  # a tick without any node's frame waits so long for one
LIVE_TICKS = 3  # a stream that missed more than these is not waited for
EVERY_TICKS = 2  # nor is one whose last two frames were further apart: it comes when it comes
IDLE_NANO = 5 * NANOSECONDS  # a partition this far behind is idle or backlog, and holds nobody up
Stream = tuple[str, str]


class Tick:
    """Everything of one second of event time."""

    def __init__(self, second: int) -> None:
        self.second = second
        self.frames: list[Item] = []
        self.job_frames: list[Item] = []
        self.events: list[Event] = []
        self.appended: list[int] = []  # of node frames, in the order of arrival
        self.opened = 0  # append time of the first item

    def deadline(self) -> int:
        """Return the append time from which on the tick waits for nobody."""
        if not self.appended:
            return self.opened + ALONE_NANO
        return self.appended[(len(self.appended) - 1) // 2] + WAIT_NANO


class Ticks:
    """Collects items by their second and gives ticks back, closed and in order."""

    def __init__(self) -> None:
        self._open: dict[int, Tick] = {}
        self._last: dict[Stream, int] = {}
        self._apart: dict[Stream, int] = {}  # seconds between the last two frames
        self._clocks: dict[Position, int] = {}
        self._newest = 0
        self._closed: int | None = None
        self._waiting: set[Stream] | None = None

    @property
    def closed(self) -> int | None:
        """Return the last closed second."""
        return self._closed

    def saw(self, message: Message) -> None:
        """Advance the append clock of a partition."""
        at, appended = (message.topic, message.partition), message.append_time_unix_nano
        self._clocks[at] = max(self._clocks.get(at, 0), appended)
        self._newest = max(self._newest, appended)

    def idle(self, now_unix_nano: int) -> None:
        """Advance the clocks of all partitions: nothing older is waiting in any."""
        self._newest = max(self._newest, now_unix_nano)
        self._clocks = {at: max(own, now_unix_nano) for at, own in self._clocks.items()}

    def add_frame(self, item: Item) -> bool:
        """Take a node's frame; return whether its tick was closed already."""
        second, late = self._second(item.seconds)
        tick = self._tick(second, item.message.append_time_unix_nano)
        tick.frames.append(item)
        tick.appended.append(item.message.append_time_unix_nano)
        own = int(item.seconds)
        if (before := self._last.get(item.stream)) is not None and own > before:
            self._apart[item.stream] = own - before
        self._last[item.stream] = own if before is None else max(own, before)
        if self._waiting is not None and own >= min(self._open):
            self._waiting.discard(item.stream)
        return late

    def add_job_frame(self, item: Item) -> None:
        """Take a job's frame; jobs report by steps: nobody waits for them, they are never late."""
        second, _ = self._second(item.seconds)
        self._tick(second, item.message.append_time_unix_nano).job_frames.append(item)

    def add_event(self, event: Event, appended: int) -> None:
        """Take an event, at its own time but not ahead of the stream's clock."""
        second, _ = self._second(min(event.time_unix_nano, appended) / NANOSECONDS)
        self._tick(second, appended).events.append(event)

    def _second(self, seconds: float) -> tuple[int, bool]:
        second = int(seconds)
        late = self._closed is not None and second <= self._closed
        return (second if not late else self._earliest()), late

    def _earliest(self) -> int:
        """Return the tick that a late item joins: the next one after the closed."""
        assert self._closed is not None  # noqa: S101 - late implies closed
        return self._closed + 1

    def _tick(self, second: int, appended: int) -> Tick:
        if second not in self._open:
            earliest = min(self._open, default=None)
            self._open[second] = Tick(second)
            self._open[second].opened = appended
            if earliest is None or second < earliest:
                self._waiting = None
        return self._open[second]

    def ready(self) -> Iterator[Tick]:
        """Give back all ticks that are complete, in order."""
        while self._open:
            second = min(self._open)
            if not self._complete(second):
                return
            yield self._close(second)

    def drain(self) -> Iterator[Tick]:
        """Give back all ticks, complete or not: the end of a recording."""
        while self._open:
            yield self._close(min(self._open))

    def _close(self, second: int) -> Tick:
        self._closed, self._waiting = second, None
        return self._open.pop(second)

    def _complete(self, second: int) -> bool:
        if self._waiting is None:
            target = second if self._closed is not None else second + 1
            self._waiting = {
                stream
                for stream, last in self._last.items()
                if second - LIVE_TICKS <= last < target and self._often(stream)
            }
        if self._last and not self._waiting and (self._closed is not None or self._moved(second)):
            return True
        deadline = self._open[second].deadline()
        return self._newest >= deadline and self.clock() >= deadline

    def _often(self, stream: Stream) -> bool:
        return self._apart.get(stream, EVERY_TICKS) <= EVERY_TICKS

    def _moved(self, second: int) -> bool:
        """Say whether the streams of the very first tick have all gone on to a later one."""
        self._waiting = {s for s, last in self._last.items() if last <= second}
        return not self._waiting

    def clock(self) -> int:
        """Return the append time that all busy partitions have reached."""
        busy = (t for t in self._clocks.values() if self._newest - t < IDLE_NANO)
        return min(busy, default=self._newest)
