"""What is asked of Kafka's controller: which topics are there, how they are set, make new ones."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import kafka.errors as kafka_errors
import msgspec
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

from forewarn.bus import TopicName
from forewarn.kafka.link import CONNECT_SECONDS, REQUEST_MS, Link


class TopicState(msgspec.Struct, frozen=True):
    """A topic as the broker has it, or as it shall be; `configs` as Kafka spells them."""

    name: str
    partitions: int
    replicas: int
    configs: dict[str, str]


def describe(link: Link, names: Iterable[str]) -> dict[str, TopicState]:
    """Return the topics that are there, by name. Raises BusError."""
    with _client(link) as client:
        found = [topic for topic in client.describe_topics(list(names)) if not topic["error_code"]]
        resources = [ConfigResource("TOPIC", topic["name"]) for topic in found]
        configs = client.describe_configs(resources, config_filter="all") if found else {}
    return {
        topic["name"]: TopicState(
            topic["name"],
            len(topic["partitions"]),
            min(len(partition["replica_nodes"]) for partition in topic["partitions"]),
            {key: str(own["value"]) for key, own in configs["topic"][topic["name"]].items()},
        )
        for topic in found
    }


def create(link: Link, topics: Iterable[TopicState]) -> None:
    """Make topics and wait until they can be used; one made meanwhile is fine. Raises BusError."""
    wanted = {
        topic.name: {
            "num_partitions": topic.partitions,
            "replication_factor": topic.replicas,
            "configs": topic.configs,
        }
        for topic in topics
    }
    with _client(link) as client:
        with suppress(kafka_errors.TopicAlreadyExistsError):
            client.create_topics(wanted, timeout_ms=REQUEST_MS)
        client.wait_for_topics(list(wanted), timeout_ms=REQUEST_MS)


def missing(link: Link, topics: Iterable[TopicName]) -> list[TopicName]:
    """Return the topics that Kafka does not have.

    Raises:
        kafka.errors.KafkaError: as kafka-python has it; see `Link.explain`.

    """
    client = link.connect(KafkaAdminClient, CONNECT_SECONDS)
    try:
        there = set(client.list_topics())
    finally:
        client.close()
    return [topic for topic in topics if link.name(topic) not in there]


def missing_text(link: Link, topics: Iterable[TopicName]) -> str:
    """Say which topics are missing and how to make them."""
    names = ", ".join(link.name(topic) for topic in topics)
    return f"Kafka has no topic {names}: run `forewarn topics create`"


@contextmanager
def _client(link: Link) -> Iterator[Any]:
    """Lend a client; its errors come out as BusError."""
    client = None
    try:
        client = link.connect(KafkaAdminClient, CONNECT_SECONDS * 2)
        yield client
    except (kafka_errors.KafkaError, OSError) as error:
        raise link.explain(error) from error
    finally:
        if client is not None:
            client.close()
