from collections.abc import Callable

import numpy as np
import pytest

import simulator
from simulator import Scenario
from simulator.cooling import Air
from simulator.faults import FAULTS
from simulator.faults.fault import D_PRIME_MOST, level
from simulator.faults.thermal_paste import TRAINING_SHARE, noise_celsius
from simulator.fleet import Machines
from simulator.gpu import Gpus
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.scenario import AirCooling, Fault, Fleet, Form

ENTITIES = {
    "gpu": "node/n01/gpu/0000:43:00.0",
    "nic_port": "node/n02/nic/mlx5_3/port/1",
    "job": "job/train",
}
FORMS: tuple[Form, ...] = ("sudden", "gradual", "intermittent")


def fault(mode: str, severity: float, form: Form = "sudden") -> Fault:
    entity = ENTITIES[FAULTS[mode].entity_kind]
    return Fault(mode=mode, entity=entity, onset_seconds=300, severity=severity, form=form)


@pytest.mark.parametrize("mode", FAULTS)
@pytest.mark.parametrize("form", FORMS)
def test_truth_tells_what_was_injected(
    mode: str, form: Form, scenario: Callable[..., Scenario]
) -> None:
    own = fault(mode, FAULTS[mode].severities[0], form)
    (truth,) = simulator.simulate(scenario(own), 1).truth
    assert (truth.mode, truth.entity, truth.form) == (mode, own.entity, form)
    assert truth.onset_unix_nano == scenario().start_unix_nano + 300 * 10**9
    assert truth.end_unix_nano is None
    assert truth.severity == own.severity
    assert truth.expected


@pytest.mark.parametrize("mode", FAULTS)
@pytest.mark.parametrize("form", FORMS)
def test_weakest_drawn_severity_stands_out_by_four(
    mode: str, form: Form, scenario: Callable[..., Scenario]
) -> None:
    own = fault(mode, FAULTS[mode].severities[0], form)
    (truth,) = simulator.simulate(scenario(own), 1).truth
    assert 4.0 <= truth.d_prime <= D_PRIME_MOST


@pytest.mark.parametrize(("mode", "weak"), [("thermal_paste", 0.1), ("link_errors", 0.01)])
def test_d_prime_grows_with_severity(
    mode: str, weak: float, scenario: Callable[..., Scenario]
) -> None:
    values = [
        simulator.simulate(scenario(fault(mode, weak * factor)), 1).truth[0].d_prime
        for factor in (1, 2, 4)
    ]
    assert values[1] == pytest.approx(2 * values[0])
    assert values[2] == pytest.approx(4 * values[0])


def test_expected_cause_is_the_one_that_the_evidence_can_tell() -> None:
    assert FAULTS["thermal_paste"].expected(fault("thermal_paste", 5)) == ("GPU-TP-01",)
    assert FAULTS["link_errors"].expected(fault("link_errors", 5)) == ("NIC-03",)
    assert FAULTS["loss_nan"].expected(fault("loss_nan", 5, "gradual")) == ("TRN-03",)
    sudden = FAULTS["loss_nan"].expected(fault("loss_nan", 5))
    assert set(sudden) == {"TRN-03", "TRN-04", "GPU-CORE-10"}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("sudden", {299: 0.0, 300: 1.0, 400: 1.0, 500: 0.0}),
        ("gradual", {299: 0.0, 330: 0.25, 420: 1.0, 500: 0.0}),
        ("intermittent", {299: 0.0, 300: 1.0, 389: 1.0, 390: 0.0, 434: 0.0, 435: 1.0, 500: 0.0}),
    ],
)
def test_level_follows_the_form(form: Form, expected: dict[int, float]) -> None:
    own = Fault(
        mode="link_errors", entity=ENTITIES["nic_port"], onset_seconds=300, end_seconds=500,
        severity=1.0, form=form,
    )  # fmt: skip
    assert {second: level(own, second) for second in expected} == expected


def test_noise_of_d_prime_is_the_noise_that_the_simulator_makes() -> None:
    machines = Machines(Fleet(nodes=1, gpus_per_node=4))
    air, load = Air(machines, AirCooling(), 1), Load(machines)
    gpus, knobs = Gpus(machines, air.at_gpus(), 1), Knobs(machines, ())
    load.power[:], load.allocated[:] = TRAINING_SHARE, True
    readings = []
    for _ in range(15_000):
        air.advance()
        gpus.advance(load, air.at_gpus(), knobs)
        readings.append(gpus.readings(load)["gpu_temperature_celsius"])
    windows = np.array(readings[900:]).reshape(-1, 30, 4).mean(axis=1)
    documented = noise_celsius(Scenario(name="x"))
    assert float(windows.std(axis=0).mean()) == pytest.approx(documented, rel=0.35)
