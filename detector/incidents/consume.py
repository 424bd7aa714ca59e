"""Reads decide's topics: the inventory whole first, then everything from where it stopped."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from detector.incidents.database import StoreError
from forewarn.bus import Bus, Message, Position, TopicName

logger = logging.getLogger(__name__)
TOPICS: tuple[TopicName, ...] = ("inventory", "events", "findings")
POLL_SECONDS = 0.5  # also the longest that a stop or a tick waits
MAX_MESSAGES = 1000
RETRY_SECONDS = 1.0
INVENTORY_SECONDS = 10.0  # for what is where, before the first finding is placed
Take = Callable[[Sequence[Message]], object]


def load_inventory(bus: Bus, learn: Take, stop: threading.Event) -> None:
    """Read the compacted inventory: without it no finding can be placed under its job.

    It is read anew at every start rather than kept in the database: one truth less to keep equal.
    While the bus is away there is nothing else to do, so it is waited for.
    """
    consumer = bus.consumer(("inventory",), None, from_beginning=("inventory",))
    try:
        end = None
        while not stop.is_set() and (end is None or time.monotonic() < end):
            is_there = bool(consumer.positions())
            if is_there and consumer.lag() == 0:
                return
            if is_there and end is None:
                end = time.monotonic() + INVENTORY_SECONDS
            learn(consumer.poll(POLL_SECONDS, MAX_MESSAGES))
    finally:
        consumer.close()
    if not stop.is_set():
        logger.warning("inventory not read whole within %g s", INVENTORY_SECONDS)


def consume(bus: Bus, start: Mapping[Position, int], take: Take, stop: threading.Event) -> None:
    """Take messages until `stop`, from `start` where that is known, else from the first one.

    No offset is committed: what was taken stands in the database, in the transaction of what it
    gave.
    """
    known = {at: offset for at, offset in start.items() if at[0] != "inventory"}
    consumer = bus.consumer(TOPICS, None, start=known, from_beginning=TOPICS)
    try:
        while not stop.is_set():
            _keep(take, consumer.poll(POLL_SECONDS, MAX_MESSAGES), stop)
    finally:
        consumer.close()


def _keep(take: Take, messages: Sequence[Message], stop: threading.Event) -> None:
    """Take messages; while the database refuses (a full disk, say), the same ones again."""
    told = ""
    while not stop.is_set():
        try:
            take(messages)
        except StoreError as error:
            if str(error) != told:
                logger.error("nothing can be kept, trying again: %s", error)
            told = str(error)
            stop.wait(RETRY_SECONDS)
        else:
            if told:
                logger.warning("the database keeps again")
            return
