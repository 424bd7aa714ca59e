"""One-second ticks of event time: what belongs together, and when it is complete.

A tick closes when every live stream reported it or a later one, or 500 ms of append time after
its median frame. What jobs and events say of a second joins the tick of the next. The very first
waits until its streams have moved on, since nobody knows yet who is live. What comes later for a
closed tick joins the next one and is counted late. Where most streams come once a minute, say, a
tick is half of that: closing one for each second would cost more than all that is in them.

A tick of a backlog (appended long after its own time) is in no hurry, and its parts come in any
order: partitions are caught up one after the other. It waits for the missing longer, for jobs as
well as nodes, and even when all are here until nothing came for it for a while, since events come
when they come. Streams that are really gone cost that wait once. All waits are in append time,
which is also the order of arrival; as far as it is not, waits grow by the disorder that was seen.
"""

from collections.abc import Iterator
from statistics import median_low

from detector.decode import Item
from forewarn.records import NANOSECONDS, Event

WAIT_NANO = NANOSECONDS // 2
ALONE_NANO = 2 * NANOSECONDS  # a tick without any node's frame waits so long for one
BEHIND_NANO = 5 * NANOSECONDS  # appended so long after its own second a tick is backlog
SETTLE_NANO = 5 * NANOSECONDS  # a complete tick of a backlog waits until nothing came for so long
PATIENCE_NANO = 30 * NANOSECONDS  # an incomplete one this long, or as long as it is behind
DISORDER_NANO = 60 * NANOSECONDS  # messages out of order are remembered for one to two of these
HELD_BYTES = 256 * 2**20  # of messages in open ticks; beyond it the oldest closes as it is
LIVE_TICKS = 3  # a stream that missed more than these beats is not waited for
AFTER_SECONDS = 1  # jobs and events work a tick later: by then all of a second came, in any order
EVERY_TICKS = 2  # nor is one slower than this and than most others: it comes when it comes
WIDTHS = 2  # ticks of a slow fleet between two frames of most of its streams
WIDEST_PACE = 60  # seconds: what is further apart is a gap, or a table of long intervals
PACE_TICKS = 60  # how often it is looked anew at how fast most are
JOB_TICKS = 600  # a job's stream may pause so long: checkpoints, evaluations
Stream = tuple[str, str]


class Tick:
    """Everything of one second of event time; in slow fleets of the `width` seconds up to it."""

    def __init__(self, second: int, opened: int, width: int = 1) -> None:
        self.second, self.width = second, width
        self.frames: list[Item] = []
        self.job_frames: list[Item] = []
        self.events: list[Event] = []
        self.appended: list[int] = []  # of node frames in time, in the order of arrival
        self.opened = self.latest = opened  # append times of the first and last item in time
        self.bytes = 0

    @property
    def first(self) -> int:
        """Return its first second: up to it all is known."""
        return self.second - self.width + 1

    def median(self) -> int:
        """Return the append time of the median frame, or of the first item if there is none."""
        return self.appended[(len(self.appended) - 1) // 2] if self.appended else self.opened

    def deadline(self) -> int:
        """Return the append time from which on the tick waits for nobody if it is no backlog."""
        over = (self.second + 1) * NANOSECONDS  # what is late opens a tick before its time
        if self.appended:
            return max(self.median(), over if self.width > 1 else 0) + WAIT_NANO
        return max(self.opened, over) + ALONE_NANO

    def backlog(self) -> int:
        """Return how long after its own time the tick was appended, ns; 0 if as usual."""
        nano = self.median() - self.second * NANOSECONDS
        return nano if nano > BEHIND_NANO else 0


class Disorder:
    """How far, of late, messages came after younger ones; times are append times in ns."""

    def __init__(self) -> None:
        self.newest = 0
        self._turn = self._now = self._before = 0

    def saw(self, appended: int) -> None:
        """Take the append time of the message that came next."""
        self.newest = max(self.newest, appended)
        if self.newest >= self._turn:
            self._turn = self.newest + DISORDER_NANO
            self._before, self._now = self._now, 0
        self._now = max(self._now, min(self.newest - appended, PATIENCE_NANO))

    @property
    def reached(self) -> int:
        """Return the append time that by all experience nothing comes before any more."""
        return self.newest - max(self._now, self._before)


class Ticks:
    """Collects items by their second and gives ticks back, closed and in order."""

    def __init__(self) -> None:
        self._open: dict[int, Tick] = {}
        self._head: int | None = None  # the earliest open second
        self._last: dict[Stream, int] = {}
        self._apart: dict[Stream, int] = {}  # seconds between the last two frames
        self._pace, self._paced = 1, 0  # those of most streams, and when it was looked
        self._jobs: dict[Stream, int] = {}  # the latest second of streams of jobs
        self._nodes: dict[str, int] = {}  # the latest second of each node
        self._disorder = Disorder()
        self._held = 0  # bytes
        self._settled = self._patience = 0  # append times up to which a backlog is waited for
        self._closed: int | None = None
        self._waiting: set[Stream] | None = None

    @property
    def closed(self) -> int | None:
        """Return the last closed second."""
        return self._closed

    @property
    def newest(self) -> int:
        """Return the latest append time seen, ns."""
        return self._disorder.newest

    def node(self, name: str) -> int:
        """Return the latest second that a node reported, closed or not; 0 before its first."""
        return self._nodes.get(name, 0)

    def saw(self, append_time_unix_nano: int) -> None:
        """Advance the clock of the stream."""
        self._disorder.saw(append_time_unix_nano)

    def add_frame(self, item: Item) -> bool:
        """Take a node's frame; return whether its tick was closed already."""
        tick, late = self._add(item.seconds, item.message.append_time_unix_nano)
        tick.frames.append(item)
        self._hold(tick, item)
        if not late:
            tick.appended.append(item.message.append_time_unix_nano)
        own, node = int(item.seconds), item.frame.node
        if (before := self._last.get(item.stream)) is not None and own > before:
            self._apart[item.stream] = own - before
        self._last[item.stream] = own if before is None else max(own, before)
        self._nodes[node] = max(own, self._nodes.get(node, 0))
        self._came(item.stream, own)
        return late

    def add_job_frame(self, item: Item) -> None:
        """Take a job's frame; jobs report by steps: only a backlog waits, they are never late."""
        tick, _ = self._add(item.seconds + AFTER_SECONDS, item.message.append_time_unix_nano)
        tick.job_frames.append(item)
        self._hold(tick, item)
        own = int(item.seconds)
        self._jobs[item.stream] = max(own, self._jobs.get(item.stream, own))
        self._came(item.stream, own)

    def add_event(self, event: Event, appended: int) -> None:
        """Take an event, at its own time but not ahead of the stream's clock."""
        seconds = min(event.time_unix_nano, appended) / NANOSECONDS
        tick, _ = self._add(seconds + AFTER_SECONDS, appended)
        tick.events.append(event)

    def _add(self, seconds: float, appended: int) -> tuple[Tick, bool]:
        """Return the tick of a time, or the next one if that is closed, and whether it is."""
        second = int(seconds)
        late = self._closed is not None and second <= self._closed
        if late and self._closed is not None:
            second = self._closed + 1
        second = self._end(second)
        if second not in self._open:
            self._open[second] = Tick(second, appended, self._width)
            if self._head is None or second < self._head:
                self._head, self._waiting = second, None
        tick = self._open[second]
        tick.latest = appended if not late else tick.latest
        return tick, late

    @property
    def _width(self) -> int:
        """Return how many seconds a tick has."""
        slow = self._pace > EVERY_TICKS
        return max(1, min(self._pace, WIDEST_PACE) // WIDTHS) if slow else 1

    def _end(self, second: int) -> int:
        """Return the last second of the tick that a second belongs to."""
        return -(-second // self._width) * self._width

    def _hold(self, tick: Tick, item: Item) -> None:
        tick.bytes += len(item.message.value)
        self._held += len(item.message.value)

    def _came(self, stream: Stream, second: int) -> None:
        if self._waiting is None or self._head is None:
            return
        if self._end(second) >= self._head:
            self._waiting.discard(stream)

    def ready(self) -> Iterator[Tick]:
        """Give back all ticks that are complete, in order."""
        while self._head is not None and self._complete(self._open[self._head]):
            yield self._close(self._head)

    def drain(self) -> Iterator[Tick]:
        """Give back all ticks, complete or not: the end of a recording."""
        while self._head is not None:
            yield self._close(self._head)

    def _close(self, second: int) -> Tick:
        tick = self._open.pop(second)
        self._head, self._closed, self._waiting = min(self._open, default=None), second, None
        self._held -= tick.bytes
        if second % JOB_TICKS == 0:
            old = second - JOB_TICKS
            self._jobs = {s: last for s, last in self._jobs.items() if last >= old}
        return tick

    def _complete(self, tick: Tick) -> bool:
        if (backlog := tick.backlog()) > 0:
            median = tick.median()
            self._settled = max(self._settled, tick.latest + min(backlog, SETTLE_NANO))
            self._patience = max(self._patience, median + min(backlog, PATIENCE_NANO))
        if self._held > HELD_BYTES or self._disorder.reached >= max(
            tick.deadline(), self._patience
        ):
            return True
        return self.newest >= self._settled and self._all_here(tick.second)

    def _all_here(self, second: int) -> bool:
        """Say whether nobody is missing; of the first tick of a backlog nobody can know."""
        behind = self.newest < self._patience
        if self._closed is None:
            return not behind and bool(self._last) and min(self._last.values()) > second
        if self._waiting is None:
            self._look(second)
            self._waiting = self._missing(second)
            if behind:
                self._waiting |= {
                    s for s, last in self._jobs.items() if second - JOB_TICKS <= last < second
                }
        return bool(self._last) and not self._waiting

    def _look(self, second: int) -> None:
        """Find out how far apart most frames are: a fleet may be read once a minute."""
        if second >= self._paced + PACE_TICKS and self._apart:
            self._pace, self._paced = median_low(self._apart.values()), second

    def _missing(self, second: int) -> set[Stream]:
        slow = self._pace > EVERY_TICKS
        if slow:
            return {
                stream for stream, last in self._last.items() if self._is_due(stream, last, second)
            }
        return {
            stream
            for stream, last in self._last.items()
            if second - LIVE_TICKS <= last < second
            and self._apart.get(stream, EVERY_TICKS) <= EVERY_TICKS
        }

    def _is_due(self, stream: Stream, last: int, second: int) -> bool:
        """Say whether a stream of a slow fleet should have come by now, and is not long gone."""
        apart = self._apart.get(stream, self._pace)
        return apart <= self._pace and apart <= second - last <= LIVE_TICKS * self._pace
