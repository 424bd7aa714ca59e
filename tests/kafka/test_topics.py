import msgspec
import pytest
from kafka import KafkaAdminClient

from forewarn import config, topics
from forewarn.bus import TOPICS
from forewarn.errors import BusError
from tests.kafka.broker import Broker, free_port


@pytest.fixture
def fresh(kafka: Broker, request: pytest.FixtureRequest) -> config.Kafka:
    return config.Kafka(bootstrap_servers=(kafka.address(),), topic_prefix=f"{request.node.name}.")


def test_create_makes_every_topic_and_describe_finds_them_fine(fresh: config.Kafka) -> None:
    made = topics.create(fresh)
    assert [topic.status for topic in made.topics] == ["created"] * len(TOPICS)
    found = topics.describe(fresh)
    assert [(topic.topic, topic.status, topic.differences) for topic in found.topics] == [
        (name, "fine", ()) for name in TOPICS
    ]
    assert found.fine()


def test_create_twice_changes_nothing(fresh: config.Kafka) -> None:
    topics.create(fresh)
    again = topics.create(fresh)
    assert {topic.status for topic in again.topics} == {"fine"}


def test_describe_without_topics_says_missing(fresh: config.Kafka) -> None:
    report = topics.describe(fresh)
    assert {topic.status for topic in report.topics} == {"missing"}
    assert not report.fine()


def test_describe_names_differences_with_the_fix(fresh: config.Kafka) -> None:
    name = f"{fresh.topic_prefix}frames"
    configs = {"retention.ms": "1000", "message.timestamp.type": "CreateTime"}
    client = KafkaAdminClient(bootstrap_servers=list(fresh.bootstrap_servers))
    own = {"num_partitions": 2, "replication_factor": 1, "configs": configs}
    client.create_topics({name: own}, wait_for_metadata=True)
    client.close()
    frames = topics.create(fresh).topics[0]
    assert frames.status == "differs"
    found = {own.setting: (own.found, own.wanted) for own in frames.differences}
    assert found["partitions"] == ("2", "8")
    assert found["retention.ms"] == ("1000", "7200000")
    assert found["message.timestamp.type"] == ("CreateTime", "LogAppendTime")
    fixes = {own.setting: own.fix for own in frames.differences}
    assert f"--alter --topic {name} --partitions 8" in fixes["partitions"]
    assert f"--entity-name {name} --add-config retention.ms=7200000" in fixes["retention.ms"]


def test_describe_asks_for_partitions_of_the_nodes(fresh: config.Kafka) -> None:
    topics.create(fresh)
    report = topics.describe(msgspec.structs.replace(fresh, nodes=2500))
    frames = report.topics[0]
    found = {own.setting: (own.found, own.wanted) for own in frames.differences}
    assert found["partitions"] == ("8", "24")


def test_create_without_a_broker_says_where_and_what() -> None:
    nobody = config.Kafka(bootstrap_servers=(f"127.0.0.1:{free_port()}",))
    with pytest.raises(BusError, match=r"Kafka at 127\.0\.0\.1:\d+ does not answer"):
        topics.create(nobody)
