"""Who is there, at the close of each tick: signs of life, boots, announced work, silent nodes.

Everything is in the tick's order, so that a backlog says what it would have said in time.
"""

from collections.abc import Iterable

from detector.clocks import Clocks
from detector.decode import Item
from detector.families.event import Events
from detector.families.silence import Silence
from detector.ticks import Tick
from forewarn.records import Finding


class Presence:
    """Feeds the watcher of agents; owns nothing but the order."""

    def __init__(self, silence: Silence, clocks: Clocks, events: Events) -> None:
        self._silence, self._clocks, self._events = silence, clocks, events

    def on_tick(self, tick: Tick) -> list[Finding]:
        """Take all frames of a tick as signs of life; a late one was sent by then at least."""
        found: list[Finding] = []
        for item in _ordered(tick.frames):
            found += self._alive(item, max(item.seconds, float(tick.second)))
            found += self._booted(item)
        for item in _ordered(tick.job_frames):
            found += self._alive(item, item.seconds, beats=False)
        return found + self._silence.on_clock(float(tick.first))

    def _alive(self, item: Item, seconds: float, beats: bool = True) -> list[Finding]:
        return self._silence.on_frame(item.frame.node, item.frame.boot_id, seconds, beats)

    def _booted(self, item: Item) -> list[Finding]:
        """Tell of a boot that nobody announced."""
        event = self._clocks.rebooted(item)
        if event is None or self._silence.planned(event.entity, item.seconds):
            return []
        return self._events.on(event, "")


def _ordered(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda own: (own.seconds, own.stream, own.frame.seq))
