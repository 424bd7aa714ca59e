import msgspec

from forewarn import wire
from forewarn.bus import Message
from forewarn.incident import Incident
from forewarn.records import NANOSECONDS, Event, Finding
from tests.detector import fleet, samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.samples import at, closed, finding, gpu, job

NODE = "node/n1"
BOOTED = finding(fleet.BOOTED, NODE, 300)
AWAY = finding(fleet.NODE_AWAY, NODE, 60)
RESTARTED = {
    "signal": "job.state", "movement": "event", "family": "event", "value_class": "code",
    "code": "job.state:restarted",
}  # fmt: skip


def tell(stage: Stage, code: str, seconds: float, node: str = NODE) -> list[Incident]:
    """Let the scheduler tell of work on a node."""
    event = Event("c", node, code, at(seconds), "info", "planned work", node="n1")
    message = Message("events", "n1", wire.encode_event(event), 0, int(seconds), at(seconds))
    stage.now = max(stage.now, at(seconds))
    return stage.decide.step([message])


def test_planned_reboot_is_no_incident(stage: Stage) -> None:
    tell(stage, "node.maintenance:planned", 0)
    stage.feed(AWAY)
    stage.feed(BOOTED, closed(AWAY, 290))
    tell(stage, "node.maintenance:ended", 400)
    stage.idle(20_000)
    assert stage.store.incidents() == []


def test_reboot_that_nobody_planned_is_one(stage: Stage) -> None:
    tell(stage, "node.maintenance:planned", 0, node="node/n2")
    stage.feed(BOOTED)
    (incident,) = stage.living()
    assert incident.hypotheses[0].entry == "HOST-12"


def test_reboot_long_after_planned_work_is_one(stage: Stage) -> None:
    tell(stage, "node.maintenance:planned", 0)
    tell(stage, "node.maintenance:ended", 100)
    stage.feed(finding(fleet.BOOTED, NODE, 1000))
    assert len(stage.living()) == 1


def test_node_that_does_not_come_back_from_planned_work_is_an_incident(
    make_stage: MakeStage,
) -> None:
    first = make_stage()
    tell(first, "node.maintenance:planned", 0)
    first.feed(AWAY)
    tell(first, "node.maintenance:ended", 400)
    first.close()
    stage = make_stage()  # what waits outlives a restart
    stage.feed(finding(samples.HOT, gpu(7, 7), 999))  # its clock runs again
    assert [own.entity for own in stage.living()] == [gpu(7, 7)]
    stage.idle(1000)
    assert {own.entity for own in stage.living()} == {gpu(7, 7), NODE}
    (own,) = [own for own in stage.living() if own.entity == NODE]
    assert [one.id for one in own.evidence if one.severity != "info"] == [AWAY.id]


def test_planned_work_excuses_no_real_fault_and_is_seen_beside_it(stage: Stage) -> None:
    tell(stage, "node.maintenance:planned", 0)
    stage.feed(finding(samples.XID_79, gpu(1, 3), 50))
    (incident,) = stage.living()
    assert incident.entity == gpu(1, 3)
    assert "node.maintenance:planned" in {own.code for own in incident.evidence}
    assert any("node.maintenance:planned" in line.text for line in incident.timeline)


def test_planned_work_told_while_an_incident_is_open_joins_it_and_goes_on_excusing(
    stage: Stage,
) -> None:
    stage.feed(finding(samples.XID_79, gpu(1, 3), 0))
    tell(stage, "node.maintenance:planned", 50)
    stage.feed(AWAY, BOOTED)
    (incident,) = stage.living()
    assert "node.maintenance:planned" in {own.code for own in incident.evidence}
    assert incident.entity == gpu(1, 3)


def test_word_in_passing_keeps_no_incident_open(stage: Stage) -> None:
    own = finding(samples.XID_79, gpu(1, 3), 0)
    stage.feed(own)
    tell(stage, "node.maintenance:planned", 50)
    stage.feed(closed(own, 100))
    assert [one.state for one in stage.living()] == ["mitigated"]


def info(seconds: float, entity: str = gpu(1, 3)) -> Finding:
    return finding(samples.HOT, entity, seconds, severity="info")


def test_finding_worth_no_more_than_a_line_opens_nothing_and_joins_its_device(
    stage: Stage,
) -> None:
    stage.feed(info(0), info(1, gpu(2, 2)))
    assert stage.living() == []
    stage.feed(finding(samples.THROTTLED, gpu(1, 3), 10))
    (incident,) = stage.living()
    assert [own.severity for own in incident.evidence] == ["critical", "info"]
    stage.rewind()
    assert stage.feed(info(0)) == []


def test_job_that_is_restarted_on_purpose_is_no_incident(stage: Stage) -> None:
    stage.feed(finding(RESTARTED, job(), 0, job=samples.JOB, severity="minor"))
    assert stage.living() == []


def test_restart_is_evidence_of_what_made_it_necessary(stage: Stage) -> None:
    stage.feed(finding(samples.XID_79, gpu(1, 3), 0))
    stage.feed(finding(RESTARTED, job(), 60, job=samples.JOB, severity="minor"))
    (incident,) = stage.living()
    assert {own.signal for own in incident.evidence} == {"nvidia.xid", "job.state"}


def carried(seconds: float, learned: bool = True) -> Finding:
    power = {"signal": "rack_power_watts", "movement": "step_down", "family": "band"}
    return finding(power, "rack/r1", seconds, learned=learned)


def test_what_a_place_carries_opens_nothing_by_a_learned_level_alone(stage: Stage) -> None:
    stage.feed(carried(0))
    assert stage.living() == []


def test_what_a_place_carries_opens_nothing_however_long_it_lasts(stage: Stage) -> None:
    first = carried(0)
    stage.feed(first)
    for number, seconds in enumerate((3600, 7300, 20_000), 2):
        later = msgspec.structs.replace(
            first, seq=number,
            updated_at_unix_nano=first.opened_at_unix_nano + seconds * NANOSECONDS,
        )  # fmt: skip
        stage.feed(later)
    assert stage.living() == []


def test_what_a_place_carries_is_evidence_in_its_incident(stage: Stage) -> None:
    stage.feed(carried(0))
    lost = {"signal": "rack_power_supplies_up", "movement": "down", "family": "band"}
    stage.feed(finding(lost, "rack/r1", 20))
    (incident,) = stage.living()
    assert {own.signal for own in incident.evidence} == {
        "rack_power_supplies_up", "rack_power_watts"
    }  # fmt: skip


def test_limit_of_what_a_place_carries_is_an_incident(stage: Stage) -> None:
    stage.feed(carried(0, learned=False))
    assert len(stage.living()) == 1
