from forewarn import entity as entities
from tests.detector import samples
from tests.detector.desk import Stage
from tests.detector.samples import finding, gpu


def test_most_gpus_of_a_node_hot_is_one_incident_at_the_node(stage: Stage) -> None:
    for slot in range(6):
        stage.feed(finding(samples.HOT, gpu(2, slot), slot))
    (incident,) = stage.living()
    assert incident.entity == "node/n2"
    assert {own.entity for own in incident.evidence} == {gpu(2, slot) for slot in range(6)}
    merged = [own for own in stage.store.incidents() if own.state == "merged"]
    assert {own.merged_into for own in merged} == {incident.id}


def test_the_oldest_incident_goes_on_and_says_that_it_was_raised(stage: Stage) -> None:
    for slot in range(4):
        stage.feed(finding(samples.HOT, gpu(2, slot), slot))
    (incident,) = stage.living()
    first = stage.store.incidents()[0]
    assert incident.id == first.id
    assert "raised" in [line.what for line in incident.timeline]


def test_few_gpus_of_a_node_hot_stay_apart(stage: Stage) -> None:
    for slot in range(3):
        stage.feed(finding(samples.HOT, gpu(2, slot), slot))
    assert {own.entity for own in stage.living()} == {gpu(2, slot) for slot in range(3)}


def test_gpus_that_became_hot_long_apart_stay_apart(stage: Stage) -> None:
    for slot in range(6):
        stage.feed(finding(samples.HOT, gpu(2, slot), 500 * slot))
    assert len(stage.living()) == 6


def test_hot_everywhere_is_raised_to_the_job_and_not_to_one_rack(stage: Stage) -> None:
    hot = [finding(samples.HOT, gpu(node, slot), 0) for node in range(8) for slot in range(8)]
    stage.feed(*hot)
    (incident,) = stage.living()
    assert incident.entity == samples.job()


def test_hot_gpus_of_one_rack_are_raised_to_the_rack(stage: Stage) -> None:
    hot = [finding(samples.HOT, gpu(node, slot), 0) for node in range(4) for slot in range(8)]
    stage.feed(*hot)
    (incident,) = stage.living()
    assert incident.entity == entities.path("rack", "r0")


def test_different_signals_are_not_raised(stage: Stage) -> None:
    for slot, what in enumerate((samples.HOT, samples.THROTTLED, samples.XID_79)):
        stage.feed(finding(what, gpu(2, slot), slot))
    assert len(stage.living()) == 3
