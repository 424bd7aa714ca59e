"""Running a stage as a process: stop on SIGTERM or Ctrl-C, threads that tell of their death."""

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from types import FrameType

from prometheus_client import CollectorRegistry

from forewarn.bus import Bus
from forewarn.config import Settings
from forewarn.errors import ForewarnError
from forewarn.memory import MemoryBus

logger = logging.getLogger(__name__)
STOP_SECONDS = 4.0  # all stages together; with the end of the interpreter it stays below 5 s


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
    """Run every job in a thread until `stop`; one that dies stops all. Return the exit code.

    One that does not end in time is told and left behind: what it had not handed over is read
    again at the next start.
    """
    codes = [0]

    def guard(name: str, job: Callable[[], None]) -> None:
        try:
            job()
        except ForewarnError as error:
            codes.append(error.exit_code)
            logger.error("%s: %s", name, error)
        except BaseException:
            codes.append(1)
            logger.exception("%s died", name)
            raise
        finally:
            stop.set()

    threads = [
        threading.Thread(target=guard, args=(name, job), name=name, daemon=True)
        for name, job in jobs.items()
    ]
    if stop.is_set():  # asked to end while it was still being loaded
        return 0
    for thread in threads:
        thread.start()
    while not stop.wait(0.5):
        pass
    _join(threads, time.monotonic() + STOP_SECONDS)
    return max(codes)


def _join(threads: Iterable[threading.Thread], end: float) -> None:
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
        if thread.is_alive():
            logger.warning("%s did not end within %g s and is left", thread.name, STOP_SECONDS)
