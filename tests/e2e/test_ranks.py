"""A job of 64 ranks, detect and decide: one slow rank is named, who waits for it is not."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, Finding, InventoryItem, Placement
from tests.detector.desk import Stage
from tests.detector.families.test_peers import STEP, Job, name
from tests.detector.feed import T0

RANKS, SLOW = 64, 37


def gpu(rank: int) -> str:
    return f"node/n{rank // 8}/gpu/0000:{rank % 8:02x}:00.0"


def inventory(job: Job) -> list[InventoryItem]:
    """Return what detect was told: where each rank runs."""
    at = T0 * NANOSECONDS
    return [
        InventoryItem(
            "c", name(rank), at,
            placement=Placement("llm", rank, f"n{rank // 8}", (gpu(rank),), job.stage[rank]),
        )
        for rank in range(RANKS)
    ]  # fmt: skip


def decided(job: Job, folder: Path) -> list[Incident]:
    """Return the incidents that decide makes of what detect has found."""
    stage = Stage(folder / "decide.sqlite", items=inventory(job), now=T0 * NANOSECONDS)
    stage.feed_one_by_one(job.found)
    for _ in range(5):  # what waits for something that explains it waits no longer
        stage.now += 60 * NANOSECONDS
        stage.decide.step([])
    found = stage.living()
    stage.close()
    return found


def ranks(entities: Iterable[str]) -> set[str]:
    return {own for own in entities if "/rank/" in own}


def named(incident: Incident) -> set[str]:
    """Return every rank that an incident speaks of, wherever it does."""
    return ranks((incident.entity, *incident.affected, *(own.entity for own in incident.evidence)))


def first_of(found: list[Finding]) -> Finding:
    return min(found, key=lambda own: own.opened_at_unix_nano)


@pytest.mark.parametrize("stages", [0, 4])
def test_slow_rank_of_64_is_one_incident_that_names_it_and_none_of_the_63(
    stages: int, tmp_path: Path
) -> None:
    job = Job(ranks=RANKS, stages=stages)
    job.run(40)
    job.run(40, {SLOW: 1.25})
    (incident,) = decided(job, tmp_path)
    assert named(incident) == {name(SLOW)}
    assert incident.affected == (name(SLOW),)
    opened = first_of(list(incident.evidence)).opened_at_unix_nano / NANOSECONDS - T0
    assert opened / STEP < 40 + 5 + 1
    assert incident.detected_at_unix_nano / NANOSECONDS - T0 < (40 + 5 + 1) * STEP


@pytest.mark.parametrize("stages", [4, 8])
def test_slow_last_stage_is_no_incident_of_a_rank(stages: int, tmp_path: Path) -> None:
    job = Job(ranks=RANKS, stages=stages)
    last = {rank: 1.6 for rank in range(RANKS) if job.stage[rank] == stages - 1}
    job.run(80, last)
    assert [own.entity for own in decided(job, tmp_path) if named(own)] == []
