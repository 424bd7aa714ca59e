"""The stream's clock: append times of messages, carried on by the wall clock while none come."""

from collections.abc import Callable


class StreamClock:
    """Never goes back; before the first message it stands at 0."""

    def __init__(self, wall: Callable[[], int]) -> None:
        self._wall = wall
        self._base = 0
        self._mark = wall()

    def saw(self, append_time_unix_nano: int) -> None:
        """Take the time of a message."""
        if append_time_unix_nano >= self.now():
            self._base, self._mark = append_time_unix_nano, self._wall()

    def now(self) -> int:
        """Return the time of the stream, ns."""
        if self._base == 0:
            return 0
        return self._base + max(0, self._wall() - self._mark)
