"""The topics of the bus on Kafka: make those that are missing, tell how the others differ.

Nothing here deletes or alters: what would move data is said as a command for the operator.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec
from prometheus_client import CollectorRegistry

from forewarn import config
from forewarn.bus import MAX_MESSAGE_BYTES, TOPICS, Topic, TopicName
from forewarn.kafka import admin
from forewarn.kafka.admin import TopicState
from forewarn.kafka.link import Link
from forewarn.kafka.metrics import BusMetrics

_MILLISECONDS = 1000
_HOUR = 3600
Status = Literal["created", "fine", "missing", "differs"]


class Difference(msgspec.Struct, frozen=True):
    """One setting of a topic that is not as it should be, and the command that mends it."""

    setting: str
    found: str
    wanted: str
    fix: str


class TopicReport(msgspec.Struct, frozen=True):
    """One topic: its name on the broker and how it stands."""

    topic: TopicName
    name: str
    status: Status
    partitions: int
    differences: tuple[Difference, ...] = ()


class TopicsReport(msgspec.Struct, frozen=True):
    """All topics of the bus on one cluster."""

    bootstrap_servers: tuple[str, ...]
    topics: tuple[TopicReport, ...]

    def fine(self) -> bool:
        """Say whether every topic is there and as it should be."""
        return all(topic.status in {"created", "fine"} for topic in self.topics)


def create(settings: config.Kafka) -> TopicsReport:
    """Make the topics that are missing and report on all; may be repeated. Raises BusError."""
    link = _link(settings)
    wanted = _wanted(settings)
    found = admin.describe(link, [state.name for state in wanted.values()])
    new = [state for state in wanted.values() if state.name not in found]
    if new:
        admin.create(link, new)
    return _report(settings, wanted, found, "created")


def describe(settings: config.Kafka) -> TopicsReport:
    """Compare every topic with the table in `forewarn.bus`. Raises BusError."""
    wanted = _wanted(settings)
    found = admin.describe(_link(settings), [state.name for state in wanted.values()])
    return _report(settings, wanted, found, "missing")


def _link(settings: config.Kafka) -> Link:
    return Link(settings, "forewarn-topics", BusMetrics(CollectorRegistry()))


def _wanted(settings: config.Kafka) -> dict[TopicName, TopicState]:
    return {name: _state(topic, settings) for name, topic in TOPICS.items()}


def _state(topic: Topic, settings: config.Kafka) -> TopicState:
    """Return a topic as it should be.

    Kafka counts retention.bytes per partition. Kafka drops and compacts closed segments only, so
    they are closed at a quarter of the retention, and hourly in compacted topics.
    """
    partitions = topic.partitions_for(settings.nodes)
    seconds, size = topic.retention_seconds, topic.retention_bytes
    policy = ["compact"] if topic.compacted else []
    policy += ["delete"] if seconds is not None else []
    configs = {
        "cleanup.policy": ",".join(policy),
        "message.timestamp.type": "LogAppendTime",
        "max.message.bytes": str(MAX_MESSAGE_BYTES),
        "compression.type": "producer",
        "segment.ms": str((_HOUR if topic.compacted else (seconds or 0) // 4) * _MILLISECONDS),
    }
    if seconds is not None:
        configs["retention.ms"] = str(seconds * _MILLISECONDS)
    if size is not None:
        configs["retention.bytes"] = str(size // partitions)
    if settings.replication_factor >= 3:
        configs["min.insync.replicas"] = "2"
    return TopicState(
        settings.topic_prefix + topic.name, partitions, settings.replication_factor, configs
    )


def _report(
    settings: config.Kafka,
    wanted: Mapping[TopicName, TopicState],
    found: Mapping[str, TopicState],
    absent: Status,
) -> TopicsReport:
    servers = ",".join(settings.bootstrap_servers)
    reports = (
        _compare(topic, state, found.get(state.name), absent, servers)
        for topic, state in wanted.items()
    )
    return TopicsReport(settings.bootstrap_servers, tuple(reports))


def _compare(
    topic: TopicName, wanted: TopicState, found: TopicState | None, absent: Status, servers: str
) -> TopicReport:
    if found is None:
        return TopicReport(topic, wanted.name, absent, wanted.partitions)
    differences = (*_layout(wanted, found, servers), *_configs(wanted, found, servers))
    status: Status = "differs" if differences else "fine"
    return TopicReport(topic, wanted.name, status, found.partitions, differences)


def _layout(wanted: TopicState, found: TopicState, servers: str) -> list[Difference]:
    """Compare partitions and replicas; more of them than wanted is no fault."""
    differences = []
    if found.partitions < wanted.partitions:
        fix = (
            f"kafka-topics.sh --bootstrap-server {servers} --alter --topic {wanted.name} "
            f"--partitions {wanted.partitions} (keys move: stop the agents, let detect catch up)"
        )
        differences.append(_difference("partitions", found.partitions, wanted.partitions, fix))
    if found.replicas < wanted.replicas:
        fix = f"kafka-reassign-partitions.sh --bootstrap-server {servers} for {wanted.name}"
        differences.append(_difference("replicas", found.replicas, wanted.replicas, fix))
    return differences


def _configs(wanted: TopicState, found: TopicState, servers: str) -> list[Difference]:
    return [
        _difference(
            key, found.configs.get(key, ""), value, _config_fix(wanted.name, key, value, servers)
        )
        for key, value in wanted.configs.items()
        if _normal(found.configs.get(key, "")) != _normal(value)
    ]


def _config_fix(name: str, key: str, value: str, servers: str) -> str:
    shown = f"[{value}]" if "," in value else value
    return (
        f"kafka-configs.sh --bootstrap-server {servers} --alter --entity-type topics "
        f"--entity-name {name} --add-config {key}={shown}"
    )


def _normal(value: str) -> list[str]:
    """Return a list setting without its order: `compact,delete` is `delete,compact`."""
    return sorted(part.strip() for part in value.split(","))


def _difference(setting: str, found: object, wanted: object, fix: str) -> Difference:
    return Difference(setting, str(found), str(wanted), fix)
