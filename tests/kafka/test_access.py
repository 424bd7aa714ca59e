"""Login and TLS: what works, and what is said when it does not."""

import logging
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from forewarn import config, topics
from forewarn.config import Secret
from forewarn.errors import BusError, ConfigError
from forewarn.kafka import KafkaBus
from tests.kafka.broker import Broker
from tests.kafka.conftest import MakeBus
from tests.kafka.waiting import take, until

PASSWORD = "FOREWARN_TEST_PASSWORD"


@pytest.fixture
def login(kafka: Broker, settings: config.Kafka, monkeypatch: pytest.MonkeyPatch) -> config.Kafka:
    """Settings for the SASL listener, with the right password in the environment."""
    monkeypatch.setenv(PASSWORD, "right")
    return msgspec.structs.replace(
        settings,
        bootstrap_servers=(kafka.address("SASL"),),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_username="agent",
        sasl_password=Secret(env=PASSWORD),
    )


def test_sasl_with_the_right_password_works(login: config.Kafka, make_bus: MakeBus) -> None:
    bus = make_bus(login)
    consumer = bus.consumer(["events"], group="g")
    bus.producer().publish("events", "n", b"x")
    assert [message.value for message in take(consumer, 1)] == [b"x"]
    assert topics.describe(login).fine()


def test_wrong_password_is_refused_at_once_naming_the_keys(
    login: config.Kafka, make_bus: MakeBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD, "wrong")
    bus = make_bus(login)
    words = "refused the login: check bus.kafka.sasl_username and bus.kafka.sasl_password"
    with pytest.raises(BusError, match=words):
        bus.consumer(["events"], group="g")
    with pytest.raises(BusError, match=words):
        topics.describe(login)


def test_wrong_password_makes_publish_refuse_and_is_never_shown(
    login: config.Kafka,
    make_bus: MakeBus,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(PASSWORD, "do-not-show-me")
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", "kafka")
    producer = make_bus(login).producer()
    refused: list[str] = []

    def refuse() -> bool:
        try:
            producer.publish("events", "n", b"x")
        except BusError as error:
            refused.append(str(error))
        return bool(refused)

    until(refuse)
    assert "check bus.kafka.sasl_username" in refused[0]
    assert not producer.flush(30)
    with pytest.raises(BusError):
        topics.describe(login)
    shown = caplog.text + refused[0]
    assert "do-not-show-me" not in shown, "the password was shown"


def test_sasl_without_a_password_is_a_config_error(login: config.Kafka) -> None:
    bare = msgspec.structs.replace(login, sasl_password=Secret())
    with pytest.raises(ConfigError, match=r"bus\.kafka\.sasl_password: is needed"):
        KafkaBus(bare, "test", CollectorRegistry())


def test_missing_ca_file_is_a_config_error(settings: config.Kafka) -> None:
    tls = msgspec.structs.replace(settings, security_protocol="SSL", tls_ca_file="/nosuch.pem")
    with pytest.raises(ConfigError, match=r"bus\.kafka\.tls_ca_file: /nosuch\.pem: No such"):
        KafkaBus(tls, "test", CollectorRegistry())


@pytest.fixture(autouse=True)
def _library_loggers() -> Iterator[None]:
    """Put the levels of kafka-python's loggers back."""
    own = [logging.getLogger(f"kafka{part}") for part in ("", ".admin", ".net", ".protocol")]
    levels = [logger.level for logger in own]
    yield
    for logger, level in zip(own, levels, strict=True):
        logger.setLevel(level)


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(("openssl", *arguments), cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate authority of our own and a key store for 127.0.0.1 signed by it."""
    folder = tmp_path_factory.mktemp("tls")
    new = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl(folder, *new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test authority")
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\n")
    request = ("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key")
    openssl(folder, *request, "-out", "server.csr", "-subj", "/CN=broker")
    sign = ("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key")
    openssl(folder, *sign, "-days", "2", "-extfile", "server.ext", "-out", "server.pem")
    pack = ("pkcs12", "-export", "-in", "server.pem", "-inkey", "server.key")
    openssl(folder, *pack, "-passout", "pass:forewarn", "-out", "server.p12")
    return folder


@pytest.fixture(scope="module")
def tls_broker(_java: None, certificates: Path) -> Iterator[Broker]:
    own = Broker(certificates / "kafka", keystore=certificates / "server.p12")
    own.start()
    yield own
    own.stop()


@pytest.fixture
def tls(tls_broker: Broker, certificates: Path) -> config.Kafka:
    return config.Kafka(
        bootstrap_servers=(tls_broker.address("TLS"),),
        security_protocol="SSL",
        tls_ca_file=str(certificates / "ca.pem"),
        nodes=1,
    )


def test_tls_with_our_authority_works(tls: config.Kafka, make_bus: MakeBus) -> None:
    topics.create(tls)
    bus = make_bus(tls)
    consumer = bus.consumer(["events"], group=None)
    bus.producer().publish("events", "n", b"x")
    assert [message.value for message in take(consumer, 1)] == [b"x"]


def test_tls_with_a_foreign_authority_is_told_with_the_keys(tls: config.Kafka) -> None:
    foreign = msgspec.structs.replace(tls, tls_ca_file="")
    with pytest.raises(BusError, match=r"check bus\.kafka\.tls_ca_file \(.*certificate"):
        topics.describe(foreign)


def test_tls_to_a_plain_port_is_told_with_the_keys(tls: config.Kafka, tls_broker: Broker) -> None:
    plain = msgspec.structs.replace(tls, bootstrap_servers=(tls_broker.address(),))
    with pytest.raises(BusError, match=r"check bus\.kafka\.security_protocol"):
        topics.describe(plain)
