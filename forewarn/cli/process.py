"""Running a stage as a process: stop on SIGTERM or Ctrl-C, threads that tell of their death."""

import logging
import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType

from prometheus_client import CollectorRegistry

from forewarn.bus import Bus
from forewarn.config import Settings
from forewarn.errors import ForewarnError
from forewarn.memory import MemoryBus

logger = logging.getLogger(__name__)
STOP_SECONDS = 5.0


def stop_on_signals() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set; a second signal ends the process at once."""
    stop = threading.Event()

    def ask(signum: int, _frame: FrameType | None) -> None:
        logger.info("%s: stopping", signal.Signals(signum).name)
        stop.set()
        signal.signal(signum, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, ask)
    signal.signal(signal.SIGINT, ask)
    return stop


def make_bus(settings: Settings, client: str, registry: CollectorRegistry) -> Bus:
    """Return the bus that the settings name; a producer holds what the agent is allowed to."""
    if settings.bus.kind == "embedded":
        return MemoryBus()
    from forewarn.kafka import KafkaBus

    return KafkaBus(settings.bus.kafka, client, registry, settings.agent.buffer_bytes)


def need_shared_bus(settings: Settings, verb: str) -> None:
    """Refuse a stage alone on a bus that ends with its process. Raises ForewarnError."""
    if settings.bus.kind == "embedded":
        raise ForewarnError(
            f"{verb}: the embedded bus lives inside one process, so a stage alone would hear "
            'nothing; set [bus] kind = "kafka" in the configuration, or run `forewarn up`'
        )


def run_all(jobs: Mapping[str, Callable[[], None]], stop: threading.Event) -> int:
    """Run every job in a thread until `stop`; one that dies stops all. Return the exit code."""
    failed: list[str] = []

    def guard(name: str, job: Callable[[], None]) -> None:
        try:
            job()
        except ForewarnError as error:
            failed.append(name)
            logger.error("%s: %s", name, error)
        except BaseException:
            failed.append(name)
            logger.exception("%s died", name)
            raise
        finally:
            stop.set()

    threads = [
        threading.Thread(target=guard, args=(name, job), name=name, daemon=True)
        for name, job in jobs.items()
    ]
    for thread in threads:
        thread.start()
    while not stop.wait(0.5):
        pass
    for thread in threads:
        thread.join(STOP_SECONDS)
    return 1 if failed else 0
