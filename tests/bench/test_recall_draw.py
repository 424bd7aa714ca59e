from bench import recall_draw
from bench.recall_table import lower
from simulator import simulate
from simulator.check import check
from simulator.claims import Claims
from simulator.faults import FAULTS
from simulator.fleet import Machines
from simulator.places import places


def test_runs_are_sound_and_faults_do_not_meet() -> None:
    for seed in (0, 1):
        own = recall_draw.scenario(seed)
        check(own, own.name)
        machines = Machines(own.fleet)
        known, claims = places(machines, own.job), Claims(machines, own.job)
        reached = [
            claims.nodes(FAULTS[f.mode].entity_kind, known[FAULTS[f.mode].entity_kind][f.entity])
            for f in own.fault
        ]
        assert sum(map(len, reached)) == len(frozenset().union(*reached))
        assert len(own.fault) == recall_draw.FAULTS_PER_RUN


def test_a_few_runs_have_every_mode_and_d_prime_from_one_to_a_hundred() -> None:
    runs = [recall_draw.scenario(seed) for seed in range(6)]
    assert {fault.mode for own in runs for fault in own.fault} == FAULTS.keys()
    truths = [truth.d_prime for own in runs for truth in simulate(own, 1).truth]
    noisy = sorted(d for d in truths if d < 250)
    assert noisy[0] < 2.5
    assert 50 < noisy[-1] <= 150


def test_mixed_runs_have_four_models_on_both_halves() -> None:
    own = recall_draw.scenario(2, mixed=True)
    check(own, own.name)
    assert len(set(own.fleet.hardware_of_nodes())) == 4


def test_lower_end_of_a_share_is_wilsons() -> None:
    assert lower(0, 0) == 0.0
    assert abs(lower(600, 600) - 0.9936) < 1e-3
    assert lower(99, 100) < 0.99
