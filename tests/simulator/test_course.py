import numpy as np

from simulator.course import course
from simulator.faults import FAULTS
from simulator.rates import NODE_DAYS, RATES
from simulator.scenario import AirCooling, Fleet, LiquidCooling

FLEET = Fleet(nodes=100, cooling=AirCooling())


def test_every_rate_stands_for_faults_that_there_are() -> None:
    assert {name for rate in RATES for name in rate.modes} <= FAULTS.keys()
    assert all(rate.count > 0 and rate.hours > 0 for rate in RATES)


def test_rates_are_those_of_the_trace() -> None:
    drawn = sum(len(course(seed, FLEET, 30.0).fault) for seed in range(12))
    told = sum(rate.count for rate in RATES) / NODE_DAYS * 100 * 30 * 12
    assert 0.6 < drawn / told < 1.3


def test_some_nodes_fail_again_and_again() -> None:
    own = course(3, FLEET, 30.0, times=20.0)
    nodes = [fault.entity.split("/")[1] for fault in own.fault if fault.entity.startswith("node/")]
    counts = np.unique(nodes, return_counts=True)[1]
    assert counts.var() > 2 * counts.mean()


def test_same_seed_draws_the_same_course() -> None:
    assert course(5, FLEET, 2.0) == course(5, FLEET, 2.0) != course(6, FLEET, 2.0)


def test_faults_that_heal_are_repaired_and_cooling_fits() -> None:
    own = course(4, Fleet(nodes=100, cooling=LiquidCooling()), 30.0, times=10.0)
    assert {FAULTS[fault.mode].cooling for fault in own.fault} <= {"", "liquid"}
    repaired = [fault for fault in own.fault if fault.end_seconds]
    assert repaired
    assert all(FAULTS[fault.mode].heals for fault in repaired)
