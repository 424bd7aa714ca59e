import numpy as np

from bench.recall_baselines import LEARNING, Kept, false_peaks, found, lasting, threshold
from bench.recall_methods import three_sigma
from bench.recall_world import World
from simulator.scenario import AirCooling, Fleet, Imperfection, Job, Scenario


def kept(scores: np.ndarray, reach: set[int], onset: int) -> Kept:
    own = scores.astype(np.float32)
    return Kept({"method": own}, [frozenset(reach)], [onset], [10.0], [True])


def test_a_score_lasts_only_three_buckets_in_a_row() -> None:
    scores = np.zeros((6, 1), np.float32)
    scores[1:3], scores[4] = 5.0, 9.0
    assert lasting(scores).max() == 0.0
    scores[3] = 7.0
    assert lasting(scores)[:, 0].tolist() == [0, 0, 0, 5, 5, 0]


def test_threshold_lets_as_many_false_incidents_through_as_allowed() -> None:
    scores = np.zeros((LEARNING + 240, 4))
    scores[LEARNING + 5, 3], scores[LEARNING + 70, 3] = 8.0, 6.0
    scores[LEARNING + 100, 0] = 7.0
    run = kept(scores, {0, 1}, LEARNING + 90)
    assert false_peaks(run, "method")[:3] == [8.0, 6.0, 0.0]
    limit = threshold([run], "method", 1)
    assert 6.0 < limit < 7.0
    assert found(run, "method", limit) == [10]
    assert found(run, "method", 7.5) == [None]


def test_what_a_fault_reaches_is_no_false_incident_once_it_began() -> None:
    scores = np.zeros((LEARNING + 120, 2))
    scores[LEARNING + 10, 1], scores[LEARNING + 80, 1] = 3.0, 4.0
    assert false_peaks(kept(scores, {1}, LEARNING + 40), "method")[0] == 3.0


def test_world_has_rates_of_counters_and_levels_of_gauges() -> None:
    own = Scenario(
        name="w", duration_seconds=300, imperfection=Imperfection(failed_reading=0, missed_frame=0),
        fleet=Fleet(nodes=2, gpus_per_node=2, cooling=AirCooling()),
        job=(Job(name="a", nodes=("n01", "n02"), loading_seconds=5, checkpoint_every=0),),
    )  # fmt: skip
    world = World(own, 1)
    index = {pair: number for number, pair in enumerate(world.series)}
    energy = world.values[:, index["gpu_energy_joules_total", "node/n01/gpu/0000:1b:00.0"]]
    watts = world.values[:, index["gpu_power_watts", "node/n01/gpu/0000:1b:00.0"]]
    assert np.allclose(energy[15:29], watts[15:29], rtol=0.1)
    assert world.nodes[index["job_loss", "job/a"]] == {0, 1}
    assert world.nodes[index["switch_up", "switch/leaf01"]] == {0, 1}
    scores = world.by_node(three_sigma(world, 20), 2)
    assert scores.shape == (30, 2)
    assert np.isfinite(scores).all()
