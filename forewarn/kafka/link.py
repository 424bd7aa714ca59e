"""What all Kafka clients of a bus share: settings, errors in our words, is Kafka there at all."""

import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

import kafka.errors as kafka_errors
from kafka import KafkaConsumer
from kafka.record import util as kafka_records

from forewarn import config
from forewarn.bus import TOPICS, TopicName
from forewarn.errors import BusError, ConfigError
from forewarn.kafka.login import try_login
from forewarn.kafka.metrics import BusMetrics

logger = logging.getLogger(__name__)
_NET = KafkaConsumer.DEFAULT_CONFIG["kafka_client"]
CONNECT_SECONDS = 2.0
REQUEST_MS = 10_000
METADATA_MS = 30_000
_FIXES: tuple[tuple[type[Exception], str], ...] = (
    (
        kafka_errors.SaslAuthenticationFailedError,
        "refused the login: check bus.kafka.sasl_username and bus.kafka.sasl_password",
    ),
    (
        kafka_errors.UnsupportedSaslMechanismError,
        "does not offer this SASL mechanism: check bus.kafka.sasl_mechanism",
    ),
    (
        kafka_errors.IllegalSaslStateError,
        "speaks no SASL here: check bus.kafka.security_protocol and bus.kafka.bootstrap_servers",
    ),
    (
        kafka_errors.TopicAuthorizationFailedError,
        "does not let this user at the topic: grant Describe, Read and Write on it",
    ),
    (
        kafka_errors.GroupAuthorizationFailedError,
        "does not let this user join the consumer group: grant Read on the group",
    ),
    (
        kafka_errors.ClusterAuthorizationFailedError,
        "does not let this user publish: grant IdempotentWrite on the cluster",
    ),
    (
        kafka_errors.MessageSizeTooLargeError,
        "finds the message too large: raise max.message.bytes, see `forewarn topics describe`",
    ),
)
_CERTIFICATE = "shows a certificate that is not accepted: check bus.kafka.tls_ca_file"
_NO_TLS = "speaks no TLS here: check bus.kafka.security_protocol and bus.kafka.bootstrap_servers"
_AWAY = "does not answer: is it running, and are bus.kafka.bootstrap_servers right?"


class Link:
    """The way to one Kafka cluster; safe for threads."""

    def __init__(self, settings: config.Kafka, client_id: str, metrics: BusMetrics) -> None:
        self.settings, self.metrics = settings, metrics
        self._client_id = client_id
        self._lock = threading.Lock()
        self._away_since: float | None = None
        self._context = _tls(settings) if settings.security_protocol.endswith("SSL") else None
        self._arguments = {**_arguments(settings, client_id), "ssl_context": self._context}
        _warn_of_slow_checksums(metrics)
        _quieten_library(settings)

    def name(self, topic: TopicName) -> str:
        """Return the topic's name on the broker. Raises BusError for an unknown topic."""
        if topic not in TOPICS:
            raise BusError(f"unknown topic {topic!r}; one of {', '.join(TOPICS)}")
        return self.settings.topic_prefix + topic

    def topic(self, name: str) -> TopicName:
        """Return our name of a topic on the broker."""
        return name.removeprefix(self.settings.topic_prefix)  # type: ignore[return-value]

    def connect(self, client: Callable[..., Any], timeout_seconds: float, **own: Any) -> Any:
        """Return a connected client of a kafka-python class.

        A failed constructor of kafka-python keeps its threads and sockets; they are closed here.

        Raises:
            kafka.errors.KafkaError, OSError: as they come; see `explain`.

        """
        server = self._knock(timeout_seconds)
        if self.settings.security_protocol.startswith("SASL"):
            net_to = _NET(**{**self._arguments, "bootstrap_servers": [server]})
            try_login(net_to, server, timeout_seconds)
        nets: list[Any] = []

        def net(**arguments: Any) -> Any:
            nets.append(_NET(**arguments))
            return nets[-1]

        own |= {"kafka_client": net, "bootstrap_timeout_ms": int(timeout_seconds * 1000)}
        try:
            made = client(**self._arguments, **own)
        except BaseException:
            for opened in nets:
                opened.close()
            raise
        self.answered()
        return made

    def _knock(self, timeout_seconds: float) -> str:
        """Return a server that is there; raise at once what kafka-python calls a timeout later."""
        problem: OSError = TimeoutError()
        for server in self.settings.bootstrap_servers:
            host, port = config.address(server)
            try:
                with socket.create_connection((host, port), timeout_seconds) as plain:
                    self._shake_hands(plain, host)
                    return server
            except OSError as error:
                problem = error
        raise problem

    def _shake_hands(self, plain: socket.socket, host: str) -> None:
        if self._context is not None:
            self._context.wrap_socket(plain, server_hostname=host).close()

    def explain(self, error: BaseException) -> BusError:
        """Say an error of kafka-python in our words: who, what, and how to mend it."""
        where = "Kafka at " + ", ".join(self.settings.bootstrap_servers)
        for kind, fix in _FIXES:
            if isinstance(error, kind):
                return BusError(f"{where} {fix}")
        if isinstance(error, ssl.SSLCertVerificationError):
            return BusError(f"{where} {_CERTIFICATE} ({error.verify_message})")
        if isinstance(error, ssl.SSLError):
            return BusError(f"{where} {_NO_TLS}")
        if passing(error):
            return BusError(f"{where} {_AWAY}")
        return BusError(f"{where}: {type(error).__name__}: {error}")

    @property
    def away(self) -> bool:
        """Say whether Kafka did not answer last."""
        return self._away_since is not None

    def answered(self) -> None:
        """Note that Kafka answered; told once per change."""
        with self._lock:
            since, self._away_since = self._away_since, None
        self.metrics.up.set(1)
        if since is not None:
            logger.warning("Kafka is back after %.1f s", time.monotonic() - since)

    def silent(self, error: BaseException | None = None) -> None:
        """Note that Kafka does not answer; told once per change."""
        with self._lock:
            first = self._away_since is None
            self._away_since = self._away_since or time.monotonic()
        self.metrics.up.set(0)
        if first:
            problem = self.explain(error or kafka_errors.KafkaTimeoutError())
            logger.error("%s; trying again until it does", problem)


def passing(error: BaseException) -> bool:
    """Say whether an error may pass by itself: a broker away, a leader that moves."""
    if isinstance(error, ssl.SSLError):
        return False
    return isinstance(error, kafka_errors.RetriableError | OSError)


def _arguments(settings: config.Kafka, client_id: str) -> dict[str, Any]:
    """Return what every client gets.

    With kafka-python's default reconnect_backoff_max_ms of 30 s, a broker that was away for 15 s
    cost 12 s more of silence (measured); with 1 s, 0.6 s.
    """
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(settings.bootstrap_servers),
        "client_id": client_id,
        "reconnect_backoff_ms": 50,
        "reconnect_backoff_max_ms": 1000,
        "request_timeout_ms": REQUEST_MS,
        "metadata_max_age_ms": METADATA_MS,
        "security_protocol": settings.security_protocol,
    }
    if settings.security_protocol.startswith("SASL"):
        arguments |= _login(settings)
    return arguments


def _login(settings: config.Kafka) -> dict[str, Any]:
    password = settings.sasl_password.read()
    for key, value in (
        ("sasl_mechanism", settings.sasl_mechanism),
        ("sasl_username", settings.sasl_username),
        ("sasl_password", password),
    ):
        if not value:
            protocol = settings.security_protocol
            raise ConfigError(f"bus.kafka.{key}: is needed with security_protocol = {protocol!r}")
    return {
        "sasl_mechanism": settings.sasl_mechanism,
        "sasl_plain_username": settings.sasl_username,
        "sasl_plain_password": password,
    }


def _tls(settings: config.Kafka) -> ssl.SSLContext:
    """Return what the certificates are checked with; ConfigError names a file that will not do."""
    try:
        context = ssl.create_default_context(cafile=settings.tls_ca_file or None)
    except OSError as error:
        text = f"bus.kafka.tls_ca_file: {settings.tls_ca_file}: {error.strerror or error}"
        raise ConfigError(text) from error
    context.check_hostname = settings.tls_check_hostname
    if settings.tls_cert_file:
        _show_certificate(context, settings)
    return context


def _show_certificate(context: ssl.SSLContext, settings: config.Kafka) -> None:
    try:
        context.load_cert_chain(settings.tls_cert_file, settings.tls_key_file or None)
    except OSError as error:
        files = f"{settings.tls_cert_file}, {settings.tls_key_file}"
        text = f"bus.kafka.tls_cert_file, tls_key_file: {files}: {error.strerror or error}"
        raise ConfigError(text) from error


def _warn_of_slow_checksums(metrics: BusMetrics) -> None:
    native = kafka_records.crc32c_c is not None
    metrics.crc32c.set(native)
    if not native:
        logger.warning(
            "the crc32c extension is missing: Kafka is eight times slower; "
            "install kafka-python[crc32c]"
        )


def _quieten_library(settings: config.Kafka) -> None:
    """Keep kafka-python from logging each try to reconnect; INFO or DEBUG were set on purpose.

    At DEBUG it logs its configuration and every request with the password in it: never.
    """
    library = logging.getLogger("kafka")
    if library.level == logging.NOTSET or library.level >= logging.WARNING:
        library.setLevel(logging.CRITICAL)
    if settings.security_protocol.startswith("SASL"):
        for part in ("admin", "net", "protocol"):
            library.getChild(part).setLevel(max(library.level, logging.INFO))
