"""Fixtures: one real broker for all tests of this folder, topics under a prefix for each test."""

import os
import uuid
from collections.abc import Callable, Iterator

import pytest
from prometheus_client import CollectorRegistry

from forewarn import config, topics
from forewarn.kafka import KafkaBus
from tests.kafka import broker
from tests.kafka.broker import Broker

MakeBus = Callable[..., KafkaBus]


@pytest.fixture(scope="session")
def _java() -> None:
    """Skip where no broker can run, and say why; in continuous integration that is a failure."""
    if reason := broker.lacking():
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def kafka(_java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that runs for the whole session; tests leave it running."""
    own = Broker(tmp_path_factory.mktemp("kafka"), sasl={"agent": "right"})
    own.start()
    yield own
    own.stop()


def with_topics(broker: Broker) -> config.Kafka:
    """Make all topics under a prefix of their own."""
    prefix = f"t{uuid.uuid4().hex[:8]}."
    made = config.Kafka(bootstrap_servers=(broker.address(),), topic_prefix=prefix, nodes=1)
    topics.create(made)
    return made


@pytest.fixture
def settings(kafka: Broker) -> config.Kafka:
    """Settings for the session's broker with all topics made, under a prefix of this test."""
    return with_topics(kafka)


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def make_bus(settings: config.Kafka) -> Iterator[MakeBus]:
    """Make buses on the test's topics, closed at the end."""
    made: list[KafkaBus] = []

    def make(own: config.Kafka = settings, **arguments: object) -> KafkaBus:
        registry = arguments.pop("registry", None) or CollectorRegistry()
        made.append(KafkaBus(own, "test", registry, **arguments))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for bus in made:
        bus.close()


@pytest.fixture
def bus(make_bus: MakeBus, registry: CollectorRegistry) -> KafkaBus:
    return make_bus(registry=registry)


@pytest.fixture(scope="module")
def own_broker(_java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker for the tests of one module to stop and kill; each leaves it running."""
    own = Broker(tmp_path_factory.mktemp("own"))
    own.start()
    yield own
    own.stop()


@pytest.fixture
def own_settings(own_broker: Broker) -> config.Kafka:
    """Settings for `own_broker` with all topics made, under a prefix of this test."""
    return with_topics(own_broker)
