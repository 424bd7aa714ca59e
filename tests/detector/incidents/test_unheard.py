import msgspec

from detector.incidents.unheard import UNHEARD_SECONDS
from tests.detector import fleet, samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.samples import at, closed, finding, gpu

HOT = finding(samples.HOT, gpu(1, 3), 0)
HOUR = 3600


def pass_hours(stage: Stage, hours: float, since: float = 0) -> None:
    for minute in range(int(hours * 60) + 1):
        stage.idle(since + 60 * minute)


def test_finding_that_nobody_speaks_of_any_more_keeps_no_incident_open(stage: Stage) -> None:
    stage.feed(HOT)
    pass_hours(stage, 0.4)
    assert [own.state for own in stage.living()] == ["open"]
    pass_hours(stage, 0.3, 0.4 * HOUR)
    (incident,) = stage.living()
    assert (incident.state, incident.not_collected) == ("mitigated", (HOT.id,))
    assert incident.evidence[0].closed_at_unix_nano is None  # nobody knows
    told = {line.what: line.text for line in incident.timeline}
    assert "1800 s" in told["not_collected"]
    assert "nobody knows" in told["mitigated"]
    pass_hours(stage, 1.1, 0.7 * HOUR)
    assert [own.state for own in stage.living()] == ["resolved"]


def test_finding_that_is_heard_of_again_opens_its_incident_again(stage: Stage) -> None:
    stage.feed(HOT)
    pass_hours(stage, 0.7)
    stage.feed(msgspec.structs.replace(HOT, seq=2, updated_at_unix_nano=at(0.8 * HOUR)))
    (incident,) = stage.living()
    assert (incident.state, incident.not_collected) == ("open", ())


def test_finding_that_a_living_detector_speaks_of_is_not_missed(stage: Stage) -> None:
    own = HOT
    for minute in range(90):
        own = msgspec.structs.replace(
            own, seq=own.seq + 1, updated_at_unix_nano=at(60 * minute + 1)
        )
        stage.feed(own)
    assert [one.state for one in stage.living()] == ["open"]


def test_decide_that_has_just_begun_misses_nothing_yet(make_stage: MakeStage) -> None:
    first = make_stage()
    first.feed(HOT)
    first.close()
    stage = make_stage(now=at(5 * HOUR))
    stage.feed(finding(samples.HOT, gpu(7, 7), 5 * HOUR))
    assert {own.state for own in stage.living()} == {"open"}
    pass_hours(stage, 0.4, 5 * HOUR)
    assert {own.state for own in stage.living()} == {"open"}
    pass_hours(stage, 0.2, 5.4 * HOUR)
    assert "mitigated" in {own.state for own in stage.living()}


def test_silence_is_told_once_and_is_missed_only_after_a_day(stage: Stage) -> None:
    stage.feed(finding(fleet.AGENT_AWAY, "node/n1/agent/main", 0))
    stage.idle(1)
    stage.idle(UNHEARD_SECONDS + 100)
    stage.idle(UNHEARD_SECONDS + 200)
    assert [own.state for own in stage.living()] == ["open"]


def test_storm_whose_detector_was_lost_ends_too(make_stage: MakeStage) -> None:
    stage = make_stage(fleet.inventory())
    told = [finding(samples.HOT, own, 0) for own in fleet.gpus(range(64))]
    stage.feed(*told)
    stage.feed(*(closed(own, 50) for own in told[:300]))
    pass_hours(stage, 0.7)
    (incident,) = stage.living()
    assert (incident.state, incident.evidence_left_out_open) == ("mitigated", 0)
