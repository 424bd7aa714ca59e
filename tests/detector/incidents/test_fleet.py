"""One fault of a fleet is one incident at what is broken; what merely coincides stays apart."""

import itertools
import random

import msgspec
import pytest

from forewarn.records import NANOSECONDS, Finding
from tests.detector import fleet, samples
from tests.detector.conftest import MakeStage
from tests.detector.desk import Stage
from tests.detector.samples import closed, finding, gpu


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    return make_stage(fleet.inventory())


def places(stage: Stage) -> set[str]:
    return {own.entity for own in stage.living()}


HOT_FEW = [finding(samples.HOT, gpu(number, 2), 20 + number) for number in (0, 5, 9)]
FLOW = finding(fleet.FLOW_DOWN, fleet.loop(0), 10)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_loop_that_fails_is_one_incident_whatever_is_seen_first(
    stage: Stage, order: tuple[int, ...]
) -> None:
    told = [FLOW, *HOT_FEW]
    for number, at in enumerate(order):
        stage.feed(told[at], seconds=60 + number)
    (incident,) = stage.living()
    assert incident.entity == fleet.loop(0)
    assert {own.id for own in incident.evidence} == {own.id for own in told}
    assert incident.hypotheses[0].entry == "FAC-01"


def test_hot_device_of_another_loop_is_another_incident(stage: Stage) -> None:
    stage.feed(FLOW, *HOT_FEW, finding(samples.HOT, gpu(20, 2), 25))
    assert places(stage) == {fleet.loop(0), gpu(20, 2)}


def test_device_that_was_hot_long_before_its_loop_fails_is_another_incident(stage: Stage) -> None:
    stage.feed(finding(samples.HOT, gpu(1, 1), 0))
    flow = finding(fleet.FLOW_DOWN, fleet.loop(0), 4000)
    stage.feed(flow, finding(samples.HOT, gpu(2, 1), 4030))
    assert places(stage) == {gpu(1, 1), fleet.loop(0)}


def test_link_errors_below_a_failing_loop_are_another_incident(stage: Stage) -> None:
    stage.feed(FLOW, *HOT_FEW, finding(samples.LINK_ERRORS, fleet.port(5), 30))
    assert places(stage) == {fleet.loop(0), fleet.port(5)}


@pytest.mark.parametrize("seed", range(8))
def test_three_faults_at_once_are_three_incidents_in_any_order(stage: Stage, seed: int) -> None:
    loop = [finding(samples.HOT, own, 20 + n / 8) for n, own in enumerate(fleet.gpus(range(16)))]
    loop += [finding(samples.THROTTLED, own, 90) for own in fleet.gpus(range(3))]
    links = [finding(samples.LINK_ERRORS, fleet.port(40), 30)]
    lost = [finding(samples.XID_79, gpu(60, 4), 35)]
    told = [FLOW, *loop, *links, *lost]
    mixed = random.Random(seed).sample(told, len(told))
    for begin in range(0, len(mixed), 10):
        stage.feed(*mixed[begin : begin + 10], seconds=200)
    assert places(stage) == {fleet.loop(0), fleet.port(40), gpu(60, 4)}


@pytest.mark.parametrize("first", [True, False])
def test_switch_that_is_down_takes_its_ports_with_it(stage: Stage, first: bool) -> None:
    ports = [finding(fleet.LINK_DOWN, fleet.port(number), 5 + number) for number in range(8, 12)]
    down = finding(fleet.SWITCH_DOWN, fleet.leaf(2), 6)
    for own in [down, *ports] if first else [*ports, down]:
        stage.feed(own, seconds=30)
    (incident,) = stage.living()
    assert incident.entity == fleet.leaf(2)
    assert incident.hypotheses[0].entry == "NET-06"


def test_ports_of_a_switch_that_says_nothing_itself_are_raised_to_it(stage: Stage) -> None:
    for number in range(8, 12):
        stage.feed(finding(fleet.LINK_DOWN, fleet.port(number), number))
    assert places(stage) == {fleet.leaf(2)}


def test_agents_that_fall_silent_in_one_rack_are_one_incident_there(stage: Stage) -> None:
    for number in range(4, 8):
        stage.feed(finding(fleet.AGENT_AWAY, fleet.agent(number), number))
    assert places(stage) == {"rack/r1"}


def test_nodes_away_after_a_dip_of_their_feed_are_one_incident_there(stage: Stage) -> None:
    stage.feed(finding(fleet.VOLTAGE, "pdu/feed-1", 0))
    for number in range(40, 60):
        stage.feed(finding(fleet.BOOTED, fleet.node(number), 100 + number))
    (incident,) = stage.living()
    assert incident.entity == "pdu/feed-1"
    assert incident.hypotheses[0].entry == "FAC-09"


@pytest.mark.parametrize("first", [True, False])
def test_slow_mounts_are_one_incident_at_their_storage(stage: Stage, first: bool) -> None:
    mounts = [finding(fleet.SLOW_MOUNT, fleet.mount(n), 10 + n / 10) for n in range(3, 30, 3)]
    busy = finding(fleet.BUSY_TARGET, "storage_target/fs0", 12)
    for own in [busy, *mounts] if first else [*mounts, busy]:
        stage.feed(own, seconds=60)
    (incident,) = stage.living()
    assert incident.entity == "storage_target/fs0"


def test_slow_mounts_of_one_storage_are_raised_to_it(stage: Stage) -> None:
    stage.feed(*(finding(fleet.SLOW_MOUNT, fleet.mount(n), 10 + n / 10) for n in range(32)))
    assert places(stage) == {"storage_target/fs0"}


def test_parts_that_fall_silent_with_their_node_are_no_incidents_of_their_own(
    stage: Stage,
) -> None:
    silent = {"signal": "gpu_temperature_celsius", "movement": "absent", "family": "silence"}
    quiet = [finding(silent, gpu(7, slot), 12) for slot in range(2)]
    stage.feed(quiet[0], finding(fleet.AGENT_AWAY, fleet.agent(7), 13), quiet[1])
    (incident,) = stage.living()
    assert len(incident.evidence) == 3


def test_one_device_that_falls_silent_stays_at_the_device(stage: Stage) -> None:
    silent = {"signal": "gpu_temperature_celsius", "movement": "absent", "family": "silence"}
    stage.feed(finding(silent, gpu(7, 1), 12), finding(fleet.AGENT_AWAY, fleet.agent(9), 13))
    assert places(stage) == {gpu(7, 1), fleet.agent(9)}


def test_everything_hot_without_a_job_is_one_incident_of_the_cluster(
    make_stage: MakeStage,
) -> None:
    stage = make_stage(fleet.inventory(job=False))
    stage.feed(*(finding(samples.HOT, own, 0) for own in fleet.gpus(range(64))))
    assert places(stage) == {"cluster/c"}


def storm() -> list[Finding]:
    """Return three findings of each of 512 GPUs."""
    what = (samples.HOT, samples.THROTTLED, samples.CLOCK_DOWN)
    return [
        finding(one, own, 10 * number)
        for number, one in enumerate(what)
        for own in fleet.gpus(range(64))
    ]


def test_storm_is_one_incident_that_shows_some_of_each_and_counts_the_rest(stage: Stage) -> None:
    stage.feed(*storm())
    (incident,) = stage.living()
    shown = [own.signal for own in incident.evidence]
    assert len(shown) == 100
    assert {shown.count(own) for own in set(shown)} <= {33, 34}
    assert incident.evidence_left_out == incident.evidence_left_out_open == 1436
    assert len(incident.affected) == 512
    assert incident.severity == "critical"


def test_storm_is_over_when_also_what_is_not_shown_is_over(
    make_stage: MakeStage,
) -> None:
    first = make_stage(fleet.inventory())
    told = storm()
    first.feed(*told)
    first.close()
    second = make_stage(fleet.inventory())  # also after a restart in the middle
    ends = random.Random(1).sample(told, len(told))
    second.feed(*(closed(own, 100) for own in ends[1:]))
    (incident,) = second.living()
    assert (incident.state, incident.evidence_left_out_open <= 1) == ("open", True)
    second.feed(closed(ends[0], 110))
    (incident,) = second.living()
    assert (incident.state, incident.evidence_left_out_open) == ("mitigated", 0)


def test_findings_that_are_not_shown_are_not_used_twice(stage: Stage) -> None:
    stage.feed(*storm())
    before = stage.living()
    stage.rewind()
    assert stage.feed(*storm()) == []
    assert stage.living() == before


def test_graver_finding_takes_the_place_of_one_that_says_nothing_new(stage: Stage) -> None:
    stage.feed(*(finding(samples.HOT, own, 0) for own in fleet.gpus(range(64))))
    stage.feed(finding(samples.THROTTLED, gpu(3, 3), 10))
    (incident,) = stage.living()
    assert samples.THROTTLED["signal"] in {own.signal for own in incident.evidence}
    assert (len(incident.evidence), incident.evidence_left_out) == (100, 413)
    assert incident.severity == "critical"


def test_storm_in_small_steps_ends_as_the_storm_at_once(stage: Stage) -> None:
    told = [finding(samples.HOT, own, 0) for own in fleet.gpus(range(16))]
    for begin in range(0, len(told), 7):
        stage.feed(*told[begin : begin + 7])
    (incident,) = stage.living()
    assert incident.entity == fleet.loop(0)
    assert len(incident.affected) == 128


def test_rack_whose_coolant_is_driven_by_its_loop_belongs_to_the_loop(stage: Stage) -> None:
    """No entry of the runbook names the rack's pressure: the catalogue says what drives it."""
    pressure = {
        "signal": "rack_coolant_differential_pressure_pascals", "movement": "step_down",
        "family": "band",
    }  # fmt: skip
    flow = {"signal": "rack_coolant_flow_liters_per_second", "movement": "down", "family": "band"}
    stage.feed(finding(pressure, "rack/r1", 9), FLOW, finding(flow, "rack/r1", 11))
    assert places(stage) == {fleet.loop(0)}


def test_few_mounts_of_one_storage_are_enough_where_no_other_is_slow(stage: Stage) -> None:
    stage.feed(*(finding(fleet.SLOW_MOUNT, fleet.mount(n), 10 + n / 10) for n in range(0, 24, 2)))
    assert places(stage) == {"storage_target/fs0"}


def supply_lost(number: int, seconds: float, rack: str = "rack/r3") -> Finding:
    lost = {
        "signal": "psu.state", "movement": "event", "family": "event", "value_class": "code",
        "code": "psu.state:lost", "severity": "major",
    }  # fmt: skip
    return finding(lost, f"{rack}/psu/{number}", seconds)


def test_two_supplies_of_a_rack_that_fail_soon_after_one_another_are_one_incident(
    stage: Stage,
) -> None:
    stage.feed(supply_lost(6, 0))
    stage.feed(supply_lost(7, 40))
    stage.feed(supply_lost(1, 45, "rack/r9"))
    assert places(stage) == {"rack/r3", "rack/r9/psu/1"}
    (own,) = [own for own in stage.living() if own.entity == "rack/r3"]
    assert (own.hypotheses[0].entry, own.hypotheses[0].entity) == ("FAC-07", "rack/r3")


def test_supplies_of_a_rack_that_fail_long_after_one_another_are_two_incidents(
    stage: Stage,
) -> None:
    stage.feed(supply_lost(6, 0))
    stage.feed(supply_lost(7, 1000))
    assert places(stage) == {"rack/r3/psu/6", "rack/r3/psu/7"}


def test_port_elsewhere_in_the_hall_is_not_the_switch_that_is_down(stage: Stage) -> None:
    """The ports of a switch are one thing that is down: with another port they are no hall."""
    stage.feed(*(finding(fleet.LINK_DOWN, fleet.port(own), 0) for own in range(4)))
    stage.feed(finding(fleet.LINK_DOWN, fleet.port(9), 100))
    assert places(stage) == {fleet.leaf(0), fleet.port(9)}


DATA_WAIT = {"signal": "rank_data_wait_seconds", "movement": "outlier", "family": "peers"}


def test_rank_that_waits_for_data_below_a_failing_loop_has_its_own_trouble(stage: Stage) -> None:
    wait = finding(DATA_WAIT, f"{samples.job()}/rank/{12 * fleet.GPUS}", 40, job=samples.JOB)
    stage.feed(FLOW, *HOT_FEW, wait)
    (own,) = (one for one in stage.living() if one.entity != fleet.loop(0))
    assert own.hypotheses[0].entry == "TRN-01"


def test_readings_that_move_rank_the_causes_anew_every_ten_seconds(stage: Stage) -> None:
    hot = finding(samples.HOT, gpu(3, 3), 0)
    stage.feed(hot)
    ranked = []
    for number in range(1, 25):
        updated = hot.updated_at_unix_nano + number * NANOSECONDS
        hot_now = msgspec.structs.replace(hot, seq=1 + number, updated_at_unix_nano=updated)
        (own,) = stage.feed(hot_now)
        ranked.append(own.hypotheses)
    kept = [one is following for one, following in itertools.pairwise(ranked)]
    assert kept.count(False) == 2
