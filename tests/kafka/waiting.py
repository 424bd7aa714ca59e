"""Waiting for something real: poll with a generous limit."""

import time
from collections.abc import Callable

from forewarn.bus import Consumer, Message

LIMIT_SECONDS = 60.0


def until(condition: Callable[[], bool], limit_seconds: float = LIMIT_SECONDS) -> None:
    """Wait for a condition; AssertionError when it does not come."""
    deadline = time.monotonic() + limit_seconds
    while not condition():
        assert time.monotonic() < deadline, "did not come in time"
        time.sleep(0.02)


def take(consumer: Consumer, count: int, limit_seconds: float = LIMIT_SECONDS) -> list[Message]:
    """Poll until `count` messages are there; AssertionError with what came instead."""
    deadline = time.monotonic() + limit_seconds
    found: list[Message] = []
    while len(found) < count:
        assert time.monotonic() < deadline, f"{len(found)} of {count} messages came"
        found += consumer.poll(0.2)
    return found
