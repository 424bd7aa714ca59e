"""The table of topics is the one that was designed."""

import pytest

from forewarn.bus import TOPICS, Topic, TopicName

HOUR, DAY = 3600, 86_400
# key, partitions at least, seconds kept, bytes kept, compacted
DESIGN: dict[TopicName, tuple[str, int, int | None, int | None, bool]] = {
    "frames": ("node", 8, 2 * HOUR, 50_000_000_000, False),
    "jobs": ("job", 8, 6 * HOUR, None, False),
    "events": ("node", 8, 7 * DAY, None, False),
    "inventory": ("entity", 8, None, None, True),
    "findings": ("entity", 8, 3 * DAY, None, False),
    "incidents": ("incident", 1, 30 * DAY, None, True),
    "state": ("partition#block", 8, None, None, True),
    "deadletter": ("source", 1, 7 * DAY, None, False),
}


def row(topic: Topic) -> tuple[str, int, int | None, int | None, bool]:
    kept = (topic.retention_seconds, topic.retention_bytes)
    return (topic.key, topic.partitions, *kept, topic.compacted)


def test_topics_are_the_designed_ones() -> None:
    assert {name: row(topic) for name, topic in TOPICS.items()} == DESIGN
    assert all(topic.name == name for name, topic in TOPICS.items())


@pytest.mark.parametrize(("nodes", "partitions"), [(1, 8), (1000, 8), (1001, 16), (12_500, 104)])
def test_frames_have_eight_partitions_per_thousand_nodes(nodes: int, partitions: int) -> None:
    assert TOPICS["frames"].partitions_for(nodes) == partitions


def test_other_topics_do_not_grow_with_the_cluster() -> None:
    grown = {name for name, t in TOPICS.items() if t.partitions_for(12_500) != t.partitions}
    assert grown == {"frames"}
