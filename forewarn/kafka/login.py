"""What the broker says to our login, which kafka-python's bootstrap hides behind a timeout."""

import socket
from typing import Any

import kafka.errors as kafka_errors

from forewarn import config

_TRIES = 3


def try_login(net: Any, server: str, timeout_seconds: float) -> None:
    """Log in over new connections of `net`, which is closed afterwards.

    A broker answers a refused login and closes the connection at once, and kafka-python 3.0 may
    then report the closing only. So a broker that takes our connection and closes it at the login,
    three times in a row, has refused it too.

    Raises:
        kafka.errors.SaslAuthenticationFailedError: and whatever else the broker says.
        OSError: if it does not take our connection.

    """
    try:
        for _ in range(_TRIES):
            socket.create_connection(config.address(server), timeout_seconds).close()
            if _try_once(net, timeout_seconds):
                return
    finally:
        net.close()
    raise kafka_errors.SaslAuthenticationFailedError("the broker closes the connection")


def _try_once(net: Any, timeout_seconds: float) -> bool:
    """Return True for a login that works, False for a connection closed meanwhile."""
    manager = net._manager
    (first, *_) = manager.cluster.bootstrap_brokers()
    manager.reset_backoff(first.node_id)
    connection = manager.get_connection(first.node_id, timeout_ms=timeout_seconds * 1000)

    async def ready() -> None:
        await connection

    try:
        manager.run(ready)
    except kafka_errors.KafkaConnectionError:
        return False
    return True
