"""Takes rows out of the outbox to one channel, at least once and in order per incident."""

import logging
import random
import threading
import time
from collections.abc import Callable

from detector.incidents.database import StoreError
from detector.notify.backoff import MAX_AGE_SECONDS, delay_seconds
from detector.notify.channel import Channel, Result
from detector.notify.outbox import Outbox, Row
from detector.notify.telemetry import DeliveryMetrics
from forewarn.records import NANOSECONDS

logger = logging.getLogger(__name__)
IDLE_SECONDS = 1.0
# Called with channel, row and reason when something will never be told on that channel.
OnDead = Callable[[str, Row, str], None]


class Delivery:
    """Delivers for one channel in a thread of its own; `step` is one move of it."""

    def __init__(
        self,
        channel: Channel,
        outbox: Outbox,
        metrics: DeliveryMetrics,
        on_dead: OnDead,
        clock: Callable[[], int] = time.time_ns,
        random_source: random.Random | None = None,
    ) -> None:
        self.channel, self._outbox, self._metrics = channel, outbox, metrics
        self._on_dead, self._clock = on_dead, clock
        self._random = random_source or random.Random()  # noqa: S311
        self._hold_until = 0
        self._is_failing = False
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f"deliver-{channel.name}", daemon=True
        )

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def wake(self) -> None:
        """Say that a row may have been added."""
        self._wake.set()

    def ask_to_stop(self) -> None:
        """Let the attempt under way be the last."""
        self._stop.set()
        self._wake.set()

    def join(self, timeout_seconds: float) -> None:
        """Wait for the end; what is not marked by then is sent again after a restart."""
        if self._thread.is_alive():
            self._thread.join(timeout_seconds)
        self.channel.close()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._wake.clear()
                wait = self.step()
                if wait > 0:
                    self._wake.wait(min(wait, IDLE_SECONDS))
        except StoreError as error:
            if not self._stop.is_set():
                logger.error("channel %s stopped: %s", self.channel.name, error)

    def step(self) -> float:
        """Try the next row if one is due; return seconds to wait until the next move."""
        self._remind()
        row = self._outbox.next(self.channel.name)
        if row is None:
            return IDLE_SECONDS
        now = self._clock()
        due = max(row.next_try_at_unix_nano, self._hold_until)
        if due > now:
            return (due - now) / NANOSECONDS
        self._settle(row, self.channel.send(row))
        return 0.0

    def _remind(self) -> None:
        if self._clock() < self._hold_until:
            return
        result = self.channel.remind()
        if result is not None:
            self._metrics.reminded(self.channel.name, result.outcome)
            self._tell_change(result)

    def _settle(self, row: Row, result: Result) -> None:
        now = self._clock()
        if result.outcome == "later":
            wait = result.after_seconds or IDLE_SECONDS
            self._outbox.postpone(row, now + int(wait * NANOSECONDS))
            return
        self._metrics.count(self.channel.name, result.outcome)
        self._tell_change(result)
        if result.outcome == "ok":
            self._outbox.done(row, "delivered", result.detail, now)
            latency = (now - row.note.made_at_unix_nano) / NANOSECONDS
            self._metrics.latency(self.channel.name, latency)
        elif result.outcome == "retry" and not self._is_too_old(row, now):
            self._put_off(row, result, now)
        else:
            self._give_up(row, result, now)

    def _is_too_old(self, row: Row, now: int) -> bool:
        return now - row.note.made_at_unix_nano >= MAX_AGE_SECONDS * NANOSECONDS

    def _put_off(self, row: Row, result: Result, now: int) -> None:
        wait = delay_seconds(row.attempts + 1, self._random)
        if result.after_seconds is not None:
            wait = max(wait, min(result.after_seconds, MAX_AGE_SECONDS))
            self._hold_until = now + int(wait * NANOSECONDS)
        self._outbox.retry(row, result.detail, now + int(wait * NANOSECONDS))

    def _give_up(self, row: Row, result: Result, now: int) -> None:
        self._outbox.done(row, "dead", result.detail, now)
        if result.outcome == "gone":
            self._outbox.disable(self.channel.name, result.detail, now)
        self._on_dead(self.channel.name, row, result.detail)

    def _tell_change(self, result: Result) -> None:
        """Log the first failure and the recovery, not every attempt."""
        failing = result.outcome != "ok"
        if failing != self._is_failing:
            level = logging.WARNING if failing else logging.INFO
            logger.log(level, "channel %s: %s", self.channel.name, result.detail)
        self._is_failing = failing
