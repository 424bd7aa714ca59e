"""The detect stage: polls the bus, feeds the engine, publishes findings, commits what is done with.

Offsets are committed only after the findings they led to are acknowledged: at least once, with the
same ids. State is in memory: a restart begins with floors, counters and events, and learns anew.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, start_http_server

from detector.engine import Engine
from detector.reload import Reload
from forewarn import wire
from forewarn.bus import Bus, Consumer, Message, Producer, TopicName
from forewarn.config import Settings, address
from forewarn.deadletter import DeadLetters
from forewarn.errors import BusError, ConfigError
from forewarn.records import NANOSECONDS, Finding

logger = logging.getLogger(__name__)
WORK: tuple[TopicName, ...] = ("frames", "jobs", "events")
POLL_SECONDS, POLL_MESSAGES = 0.1, 5000
FLUSH_SECONDS = 10.0
IDLE_SECONDS = 5.0  # without any message: the stream's clock goes on by itself
STALL_SECONDS = 10.0  # between two looks: we were held up ourselves, and know nothing of others
BACK_OFF_SECONDS, LONGEST_BACK_OFF_SECONDS = 0.5, 15.0


def run(bus: Bus, settings: Settings, stop: threading.Event, registry: CollectorRegistry) -> None:
    """Run the stage until `stop` is set.

    Raises:
        ConfigError: if /metrics cannot be served at `detect.listen`.

    """
    server, thread = _serve(settings, registry)
    stage = Stage(bus, settings, registry)
    pause = BACK_OFF_SECONDS
    try:
        while not stop.is_set():
            if stage.step(POLL_SECONDS):
                pause = BACK_OFF_SECONDS
            else:
                stop.wait(pause)
                pause = min(2 * pause, LONGEST_BACK_OFF_SECONDS)
    finally:
        stage.close()
        server.shutdown()
        server.server_close()
        thread.join()


def _serve(settings: Settings, registry: CollectorRegistry):  # type: ignore[no-untyped-def]
    host, port = address(settings.detect.listen)
    try:
        return start_http_server(port, host, registry)
    except OSError as error:
        raise ConfigError(f"detect.listen: {host}:{port}: {error.strerror}") from error


class Stage:
    """One worker: its consumers, its engine, its producer."""

    def __init__(
        self, bus: Bus, settings: Settings, registry: CollectorRegistry,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._monotonic, self._looked, self._quiet, self._newest = monotonic, monotonic(), 0.0, 0
        self._bus, self._settings = bus, settings
        self._producer: Producer = bus.producer()
        dead = DeadLetters(self._producer, "detect", registry)
        own = settings.detect
        self.engine = Engine(settings.cluster, registry, dead, own.seed, own.budget)
        self._reload = Reload(settings.detect.model, registry)
        self._work: Consumer | None = None
        self._inventory: Consumer | None = None
        self._unsent: list[Finding] = []
        self._trouble = ""

    def step(self, timeout_seconds: float) -> bool:
        """Poll once and work through it; False if the bus failed (told once per change)."""
        self._look_for_model()
        try:
            work, inventory = self._consumers()
            self._handle(inventory.poll(0.0, POLL_MESSAGES))
            self._handle(work.poll(timeout_seconds, POLL_MESSAGES))
            self._idle(work)
            self._send()
            work.commit()
            self.engine.telling.lag.set(work.lag())
        except BusError as error:
            self._tell(str(error))
            return False
        self._tell("")
        return True

    def _look_for_model(self) -> None:
        model = self._reload.look(self._monotonic())
        if model is not None:
            self.engine.adopt(model)

    def _consumers(self) -> tuple[Consumer, Consumer]:
        """Join the group for the work; read all of the inventory, from its beginning."""
        if self._inventory is None:
            self._inventory = self._bus.consumer(
                ("inventory",), None, from_beginning=("inventory",)
            )
        if self._work is None:
            self._work = self._bus.consumer(WORK, self._settings.detect.group)
        return self._work, self._inventory

    def _handle(self, messages: Sequence[Message]) -> None:
        if messages:
            newest = max(message.append_time_unix_nano for message in messages)
            self._quiet, self._newest = 0.0, max(self._newest, newest)
        self._unsent += self.engine.feed(messages)

    def _idle(self, work: Consumer) -> None:
        """Let the stream's clock go on while nobody sends: by how long it has been quiet.

        Only while the bus answers and nothing waits on it: else it is not the senders' silence.
        """
        now = self._monotonic()
        passed, self._looked = now - self._looked, now
        if not work.answers() or work.lag() or passed > STALL_SECONDS:
            self._quiet = 0.0
            return
        self._quiet += passed
        if self._newest and self._quiet >= IDLE_SECONDS:
            self._unsent += self.engine.tick(self._newest + round(self._quiet * NANOSECONDS))

    def _send(self) -> None:
        """Publish what is found; nothing is forgotten before it is acknowledged."""
        while self._unsent:
            finding = self._unsent[0]
            self._producer.publish("findings", finding.entity, wire.encode_finding(finding))
            self._unsent.pop(0)
        if not self._producer.flush(FLUSH_SECONDS):
            raise BusError(f"findings were not acknowledged within {FLUSH_SECONDS:.0f} s")

    def _tell(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble:
                logger.error("detect: the bus fails: %s", trouble)
            else:
                logger.info("detect: the bus is back")

    def close(self) -> None:
        """Send what is found, commit, and let go; a bus that fails now is told, not raised."""
        try:
            self._send()
            if self._work is not None:
                self._work.commit()
        except BusError as error:
            logger.error("detect: stopped with findings unsent: %s", error)
        for consumer in (self._work, self._inventory):
            if consumer is not None:
                consumer.close()
        self._producer.close()
