import numpy as np
import pytest

from forewarn.catalogue import CATALOGUE
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.nic import Ports
from simulator.scenario import Fleet

MACHINES = Machines(Fleet(nodes=2))


def run(ports: Ports, load: Load, knobs: Knobs, seconds: int) -> None:
    for _ in range(seconds):
        ports.advance(load, knobs)


def test_bytes_follow_the_load() -> None:
    ports, load, knobs = Ports(MACHINES, 1), Load(MACHINES), Knobs(MACHINES, ())
    load.network[3] = 1e10
    before = ports.tx.copy()
    run(ports, load, knobs, 100)
    moved = ports.tx - before
    assert moved[3] == pytest.approx(1e12, rel=0.01)
    assert np.all(np.delete(moved, 3) < 1e7)


def test_errors_grow_on_the_bad_port_only_and_cost_throughput() -> None:
    ports, load, knobs = Ports(MACHINES, 1), Load(MACHINES), Knobs(MACHINES, ())
    knobs.symbol_errors[7] = 30.0
    before = ports.symbol_errors.copy()
    run(ports, load, knobs, 200)
    grown = ports.symbol_errors - before
    assert grown[7] == pytest.approx(6000, rel=0.1)
    assert np.delete(grown, 7).max() <= 3
    assert 1.0 < ports.slowdown()[7] < 1.07
    assert np.all(np.delete(ports.slowdown(), 7) == 1.0)
    assert ports.recoveries[7] >= 1
    optics = ports.readings()["nic_optical_rx_power_watts"]
    assert optics[7] < 0.9 * np.median(optics)


@pytest.mark.parametrize("signal", ["nic_symbol_errors_total", "nic_rx_errors_total"])
def test_narrow_counter_stops_when_it_is_full(signal: str) -> None:
    ports, load, knobs = Ports(MACHINES, 1), Load(MACHINES), Knobs(MACHINES, ())
    knobs.symbol_errors[0] = 1e5
    run(ports, load, knobs, 30)
    assert ports.readings()[signal][0] == CATALOGUE[signal].saturates_at


def test_reboot_begins_counters_anew() -> None:
    ports = Ports(MACHINES, 1)
    ports.reboot(MACHINES.gpus_of(0))
    assert not ports.tx[MACHINES.gpus_of(0)].any()
    assert ports.tx[MACHINES.gpus_of(1)].all()
