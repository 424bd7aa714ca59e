import numpy as np
import pytest

import simulator
from forewarn.errors import ConfigError
from simulator import Scenario
from simulator.check import check
from simulator.hardware import HARDWARE, LIQUID
from simulator.scenario import AirCooling, Fault, Fleet, Job, LiquidCooling, ModelShare
from tests.simulator.recorded import PERFECT, Recorded

MODELS = tuple(HARDWARE)


def mixed(*faults: Fault, liquid: bool = False) -> Scenario:
    """Return two nodes of each model, each pair in training."""
    fleet = Fleet(
        nodes=2 * len(MODELS), gpus_per_node=4, nodes_per_rack=2,
        models=tuple(ModelShare(hardware=name, nodes=2) for name in HARDWARE),
        cooling=LiquidCooling() if liquid else AirCooling(),
    )  # fmt: skip
    names = fleet.node_names()
    jobs = tuple(
        Job(name=model, nodes=names[2 * i : 2 * i + 2], checkpoint_every=0, loading_seconds=5)
        for i, model in enumerate(MODELS)
    )
    return Scenario(
        name="mixed",
        duration_seconds=900,
        imperfection=PERFECT,
        fleet=fleet,
        job=jobs,
        fault=faults,
    )


@pytest.fixture(scope="module", params=[False, True], ids=["air", "liquid"])
def run(request: pytest.FixtureRequest) -> Recorded:
    return Recorded(simulator.simulate(mixed(liquid=request.param), 1))


def gpus(model: str) -> list[str]:
    first = 2 * MODELS.index(model) + 1
    slots = HARDWARE[model].pci[:4]
    return [f"node/n{n:02d}/gpu/{slot}" for n in (first, first + 1) for slot in slots]


def test_every_model_has_its_own_figures(run: Recorded) -> None:
    for model, hardware in HARDWARE.items():
        for gpu in gpus(model):
            watts = run.get("gpu_power_watts", gpu, 600)
            assert (
                0.75 * hardware.power_limit_watts < watts.mean() <= hardware.power_limit_watts + 9
            )
            assert set(run.get("gpu_power_limit_watts", gpu)) == {hardware.power_limit_watts}
            assert run.get("gpu_temperature_celsius", gpu, 600).max() < hardware.limit_celsius
            assert set(run.get("scale_up_links_up", gpu)) == {hardware.scale_up_links}
            clock = run.get("gpu_core_clock_hertz", gpu, 600).max()
            assert clock <= hardware.clock_max_hertz + 2e7


def test_nothing_slows_down_and_all_racks_carry_their_nodes(run: Recorded) -> None:
    assert run.codes("gpu.clock_event") == []
    assert run.codes("psu.state") == []


def test_ports_move_no_more_than_they_can(run: Recorded) -> None:
    for model, hardware in HARDWARE.items():
        node = 2 * MODELS.index(model) + 1
        moved = np.diff(run.get("nic_tx_bytes_total", f"node/n{node:02d}/nic/mlx5_1/port/1", 600))
        assert 0 < moved.max() < hardware.port_bytes_per_second


def test_inventory_names_each_model() -> None:
    told = {
        item.entity: item.attributes["model"]
        for instant in list(simulator.simulate(mixed(), 1))[:1] for item in instant.inventory
        if "/gpu/" in item.entity
    }  # fmt: skip
    for model, hardware in HARDWARE.items():
        assert {told[gpu] for gpu in gpus(model)} == {hardware.model}


def test_liquid_cooled_models_have_less_resistance() -> None:
    assert HARDWARE.keys() == LIQUID.keys()
    for name, own in HARDWARE.items():
        assert LIQUID[name].base_kelvin_per_watt < own.base_kelvin_per_watt


def test_d_prime_of_heat_is_that_of_the_model() -> None:
    faults = [
        Fault(mode="thermal_paste", entity=gpus(model)[1], onset_seconds=400, severity=0.5)
        for model in ("a100-sxm", "b200-hgx")
    ]
    small, large = simulator.simulate(mixed(*faults), 1).truth
    assert small.d_prime != large.d_prime


def test_a_job_on_two_models_is_refused() -> None:
    own = mixed()
    both = Scenario(name="x", fleet=own.fleet, job=(Job(name="a", nodes=("n02", "n03")),))
    with pytest.raises(ConfigError, match="a job runs on one model"):
        check(both, "x")


def test_models_must_add_up_to_the_nodes() -> None:
    fleet = Fleet(nodes=5, models=(ModelShare(hardware="a100-sxm", nodes=4),))
    with pytest.raises(ConfigError, match="4 nodes in all, but"):
        check(Scenario(name="x", fleet=fleet), "x")
