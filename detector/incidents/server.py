"""Serves the interface in a thread, and stops it in time."""

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn
from prometheus_client import CollectorRegistry

from detector.incidents.api import Api, Desk
from detector.incidents.store import Store
from forewarn.config import address
from forewarn.errors import ConfigError

logger = logging.getLogger(__name__)
# Of the 5 s in which a stage ends: 1 here, 2 for the channels, 1 for the producer.
START_SECONDS, STOP_SECONDS = 10.0, 1.0


@contextlib.contextmanager
def serve(desk: Desk, store: Store, registry: CollectorRegistry, listen: str) -> Iterator[str]:
    """Serve while the context lasts; gives the base URL (with the port really used).

    Raises:
        ConfigError: if the address cannot be listened on.

    """
    listening = _listen(listen)
    host, port = listening.getsockname()[:2]
    config = uvicorn.Config(
        Api(desk, store, registry).application(),
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="api", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(STOP_SECONDS)
        listening.close()


def _listen(listen: str) -> socket.socket:
    host, port = address(listen)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(f"decide.listen: {listen}: {error.strerror}") from error


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    end = time.monotonic() + START_SECONDS
    while not server.started and thread.is_alive() and time.monotonic() < end:
        time.sleep(0.01)
    if not server.started:
        raise ConfigError("decide.listen: the server did not start; see the log")
