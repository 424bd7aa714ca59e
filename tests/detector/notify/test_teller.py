import msgspec

from detector.incidents.actions import resolve
from forewarn.config import Settings, Webhook
from tests.detector import samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.samples import finding, gpu

GRAVE = Settings(
    cluster="c", webhook=(Webhook(name="ops", url="http://127.0.0.1:1/", min_severity="critical"),)
)


def told(stage: Stage, channel: str = "ops") -> list[tuple[str, str]]:
    """Return kind and type of what was written for a channel, in order."""
    with stage.store.database.read() as connection:
        rows = connection.execute(
            "SELECT kind, body FROM outbox WHERE channel = ? ORDER BY id", (channel,)
        ).fetchall()
    return [(kind, msgspec.json.decode(body)["type"].rpartition(".")[2]) for kind, body in rows]


def test_channel_hears_of_an_incident_once_it_is_grave_enough(make_stage: MakeStage) -> None:
    stage = make_stage(settings=GRAVE)
    stage.feed(finding(samples.HOT, gpu(1, 3), 0))
    assert told(stage) == []
    assert told(stage, "incidents") == [("open", "opened")]
    stage.feed(finding(samples.THROTTLED, gpu(1, 3), 10))
    assert told(stage) == [("open", "opened")]


def test_end_of_what_was_never_told_is_not_told(make_stage: MakeStage) -> None:
    stage = make_stage(settings=GRAVE)
    own = finding(samples.HOT, gpu(1, 3), 0)
    stage.feed(own, samples.closed(own, 10))
    stage.idle(1000)
    assert told(stage) == []
    assert told(stage, "incidents")[-1] == ("resolve", "resolved")


def test_only_changes_worth_it_are_told(make_stage: MakeStage) -> None:
    stage = make_stage()
    own = finding(samples.THROTTLED, gpu(1, 3), 0)
    stage.feed(own)
    before = told(stage, "incidents")
    for seconds in range(1, 20):
        own = msgspec.structs.replace(
            own, seq=own.seq + 1, updated_at_unix_nano=samples.at(seconds)
        )
        stage.feed(own)
    assert told(stage, "incidents") == before
    assert stage.living()[0].seq == 1
    assert stage.living()[0].evidence[0].seq == 20
    stage.feed(finding(samples.CLOCK_DOWN, gpu(1, 3), 30))
    assert told(stage, "incidents") == [*before, ("update", "updated")]
    assert stage.living()[0].seq == 2


def test_merged_incident_is_ended_where_it_was_told(make_stage: MakeStage) -> None:
    stage = make_stage()
    stage.feed(finding(samples.STEP_UP, samples.job(), 0, job=samples.JOB))
    stage.feed(finding(samples.THROTTLED, gpu(1, 3), 60))
    assert sorted(told(stage, "incidents")) == [
        ("open", "opened"),
        ("open", "opened"),
        ("resolve", "resolved"),
    ]


def test_incident_that_came_and_went_in_one_step_is_not_told(make_stage: MakeStage) -> None:
    stage = make_stage()
    stage.feed(
        finding(samples.STEP_UP, samples.job(), 0, job=samples.JOB),
        finding(samples.THROTTLED, gpu(1, 3), 60),
    )
    assert told(stage, "incidents") == [("open", "opened")]


def test_what_still_comes_in_of_a_resolved_incident_wakes_nobody(make_stage: MakeStage) -> None:
    stage = make_stage()
    own = finding(samples.HOT, gpu(1, 3), 0)
    stage.feed(own)
    stage.decide.act(stage.living()[0].id, resolve("li"))
    before = told(stage, "incidents")
    graver = msgspec.structs.replace(own, seq=2, severity="critical")
    stage.feed(graver)
    assert stage.living()[0].severity == "critical"
    assert told(stage, "incidents") == before
