"""Messages of several partitions in the order of their append times.

kafka-python hands out what it has, partition by partition. After an outage one partition may so run
minutes ahead of another, and detect would take the nodes of the other for silent. Here messages
wait until no partition that is behind can still bring an earlier one.
"""

from collections import deque
from collections.abc import Iterable, Set
from heapq import heapify, heappop, heapreplace
from typing import Generic, TypeVar

from forewarn.bus import Message

HELD_BYTES = 2 * 2**20  # of one partition, before no more of it is fetched
_At = TypeVar("_At")


class Merge(Generic[_At]):
    """Holds messages by partition and gives them back in order of (append time, partition)."""

    def __init__(self) -> None:
        self._held: dict[_At, deque[Message]] = {}
        self._bytes: dict[_At, int] = {}
        self._seen: dict[_At, int] = {}

    def add(self, at: _At, messages: list[Message]) -> None:
        """Take the next messages of a partition; one read again from earlier replaces the old."""
        held = self._held.setdefault(at, deque())
        if held and messages[0].offset <= held[-1].offset:
            held.clear()
            self._bytes[at] = 0
        held.extend(messages)
        self._bytes[at] = self._bytes.get(at, 0) + sum(len(own.value) for own in messages)
        self._seen[at] = messages[-1].append_time_unix_nano

    def keep(self, assigned: Set[_At]) -> None:
        """Forget partitions that are no longer ours."""
        for at in self._held.keys() - assigned:
            del self._held[at], self._bytes[at], self._seen[at]

    def next_offset(self, at: _At) -> int | None:
        """Return the offset of the first message held of a partition."""
        held = self._held.get(at)
        return held[0].offset if held else None

    def full(self) -> set[_At]:
        """Return the partitions of which enough is held."""
        return {at for at, size in self._bytes.items() if size >= HELD_BYTES}

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    def take(self, limit: int, behind: Iterable[_At]) -> list[Message]:
        """Return at most `limit` messages that are due.

        `behind` are the partitions with more at the broker: one of which nothing is held may
        bring anything from the time of its last message on.
        """
        behind = set(behind)
        floors = [self._seen.get(at, 0) for at in behind if not self._held.get(at)]
        floor = min(floors, default=None)
        heads = [(_rank(held[0]), at) for at, held in self._held.items() if held]
        heapify(heads)
        taken: list[Message] = []
        while heads and len(taken) < limit:
            (time, *_), at = heads[0]
            if floor is not None and time > floor:
                break
            taken.append(self._pop(at))
            if held := self._held[at]:
                heapreplace(heads, (_rank(held[0]), at))
                continue
            heappop(heads)
            if at in behind:
                floor = time if floor is None else min(floor, time)
        return taken

    def _pop(self, at: _At) -> Message:
        message = self._held[at].popleft()
        self._bytes[at] -= len(message.value)
        return message


def _rank(message: Message) -> tuple[int, str, int]:
    """Return what orders heads; no two partitions have the same."""
    return message.append_time_unix_nano, message.topic, message.partition
