import pytest

import simulator
from simulator import Scenario
from simulator.faults import FAULTS
from tests.simulator.recorded import Recorded

SEEDS = range(100)


def job_of(scenario: Scenario, entity: str) -> str:
    if entity.startswith("job/"):
        return entity.removeprefix("job/")
    node = entity.split("/")[1]
    return next(job.name for job in scenario.job if node in job.nodes)


@pytest.fixture(scope="module")
def drawn() -> list[Scenario]:
    return [simulator.draw(seed) for seed in SEEDS]


def test_same_seed_draws_the_same() -> None:
    assert simulator.draw(7) == simulator.draw(7)
    assert simulator.draw(7) != simulator.draw(8)


def test_every_draw_has_64_gpus_and_one_fault_of_each_mode(drawn: list[Scenario]) -> None:
    for scenario in drawn:
        assert scenario.gpus == 64
        assert [fault.mode for fault in scenario.fault] == list(FAULTS)


def test_no_two_faults_touch_one_job(drawn: list[Scenario]) -> None:
    for scenario in drawn:
        jobs = {job_of(scenario, fault.entity) for fault in scenario.fault}
        assert len(jobs) == len(scenario.fault)


def test_onsets_leave_time_to_learn_and_to_be_found(drawn: list[Scenario]) -> None:
    for scenario in drawn:
        for fault in scenario.fault:
            assert fault.onset_seconds > scenario.duration_seconds / 4
            assert fault.onset_seconds <= scenario.duration_seconds - 150


def test_every_drawn_fault_stands_out_by_four(drawn: list[Scenario]) -> None:
    for scenario in drawn:
        for truth in simulator.simulate(scenario, 1).truth:
            assert truth.d_prime >= 4


def test_draws_cover_all_forms_and_many_places(drawn: list[Scenario]) -> None:
    pairs = {(fault.mode, fault.form) for scenario in drawn for fault in scenario.fault}
    assert len(pairs) == 3 * len(FAULTS)
    places = {fault.entity for scenario in drawn for fault in scenario.fault}
    assert len(places) > 80


@pytest.mark.parametrize("seed", range(3))
def test_drawn_faults_show_what_their_expected_cause_needs(seed: int) -> None:
    """Each entry's `need` must be in what is sent: throttle event, symbol errors, a NaN loss."""
    scenario = simulator.draw(seed)
    recorded = Recorded(simulator.simulate(scenario, seed))
    paste, link, nan = scenario.fault
    assert {entity for _, entity, _ in recorded.codes("gpu.clock_event")} == {paste.entity}
    errors = recorded.get("nic_symbol_errors_total", link.entity)
    assert errors[-1] - errors[0] > 100
    losses = recorded.get("job_loss", nan.entity)
    assert losses[-1] != losses[-1]  # NaN


def test_too_few_nodes_or_too_little_time_is_refused() -> None:
    with pytest.raises(ValueError, match="6 are needed"):
        simulator.draw(1, nodes=4)
    with pytest.raises(ValueError, match="too short"):
        simulator.draw(1, duration_seconds=300)
