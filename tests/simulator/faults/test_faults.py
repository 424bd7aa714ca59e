from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from msgspec.structs import replace

import runbooks
import simulator
from simulator import Scenario
from simulator.cooling import Air
from simulator.faults import FAULTS
from simulator.faults.fault import D_PRIME_MOST, Layer, developed_seconds, level
from simulator.faults.thermal_paste import TRAINING_SHARE, noise_celsius
from simulator.fleet import Machines
from simulator.gpu import Gpus
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.scenario import AirCooling, Fault, Fleet, Form
from tests.simulator.recorded import cooling_of

ENTITIES = {
    "gpu": "node/n01/gpu/0000:43:00.0",
    "nic_port": "node/n02/nic/mlx5_3/port/1",
    "node": "node/n02",
    "mount": "node/n02/mount/%2Fscratch",
    "rack": "rack/r01",
    "switch": "switch/leaf01",
    "cdu": "cdu/cdu-1",
    "facility": "facility/room-1",
    "storage_target": "storage_target/fs1",
    "pdu": "pdu/feed-1",
    "job": "job/train",
    "rank": "job/train/rank/3",
}
FORMS: tuple[Form, ...] = ("sudden", "gradual", "intermittent")


def fault(mode: str, severity: float, form: Form = "sudden") -> Fault:
    entity = ENTITIES[FAULTS[mode].entity_kind]
    return Fault(mode=mode, entity=entity, onset_seconds=300, severity=severity, form=form)


def cooled(scenario: Scenario) -> Scenario:
    cooling = cooling_of(scenario.fault[0].mode)
    return replace(scenario, fleet=replace(scenario.fleet, cooling=cooling))


@pytest.mark.parametrize("mode", FAULTS)
@pytest.mark.parametrize("form", FORMS)
def test_truth_tells_what_was_injected(
    mode: str, form: Form, scenario: Callable[..., Scenario]
) -> None:
    own = fault(mode, FAULTS[mode].severities[0], form)
    (truth,) = simulator.simulate(cooled(scenario(own)), 1).truth
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
    (truth,) = simulator.simulate(cooled(scenario(own)), 1).truth
    assert 4.0 <= truth.d_prime <= D_PRIME_MOST


NOISY = {"thermal_paste": 0.1, "link_errors": 0.01, "ecc_corrected": 0.01, "link_crc": 0.01,
         "congestion": 0.01, "cpu_contention": 0.01, "coolant_flow_loss": 0.01,
         "coolant_warm": 0.1, "data_starved": 0.01, "slow_loader": 0.01}  # fmt: skip


@pytest.mark.parametrize(("mode", "weak"), NOISY.items())
def test_d_prime_grows_with_severity(
    mode: str, weak: float, scenario: Callable[..., Scenario]
) -> None:
    values = [
        simulator.simulate(cooled(scenario(fault(mode, weak * factor))), 1).truth[0].d_prime
        for factor in (1, 2, 4)
    ]
    assert values[1] == pytest.approx(2 * values[0])
    assert values[2] == pytest.approx(4 * values[0])


EXPECTED = {
    "thermal_paste": "GPU-TP-01", "ecc_corrected": "GPU-MEM-06", "ecc_uncorrected": "GPU-MEM-01",
    "gpu_lost": "GPU-CORE-01", "link_crc": "NVL-06", "pcie_width": "PCIE-01",
    "link_errors": "NIC-03", "link_flapping": "NIC-02", "switch_down": "NET-06",
    "congestion": "NET-02", "storage_saturated": "STO-01", "disk_full": "HOST-07",
    "cpu_contention": "HOST-09", "host_oom": "HOST-03", "coolant_flow_loss": "FAC-01",
    "rack_restricted": "FAC-05", "coolant_warm": "FAC-04", "room_warm": "FAC-06",
    "supplies_lost": "FAC-07", "data_starved": "TRN-01", "slow_loader": "TRN-01",
    "loss_nan": "TRN-03",
    "gpu_engine_stopped": "GPU-CORE-02", "gsp_timeout": "GPU-CORE-03",
    "gpu_missing": "GPU-CORE-08", "clock_held": "GPU-CORE-12", "power_limit_low": "GPU-TP-04",
    "memory_contained": "GPU-MEM-04", "memory_uncontained": "GPU-MEM-05",
    "row_remap_pending": "GPU-MEM-02", "row_remap_failed": "GPU-MEM-03",
    "rows_used_up": "GPU-MEM-07", "memory_hot": "GPU-TP-05", "sensor_frozen": "OBS-04",
    "page_fault": "GPU-CORE-05", "links_inactive": "NVL-03", "link_fatal": "NVL-01",
    "fabric_fatal": "NVL-04", "pcie_replays": "PCIE-02", "pcie_fatal": "PCIE-03",
    "nic_lanes_lost": "PCIE-05", "port_down": "NIC-01", "light_weak": "NIC-04",
    "speed_low": "NIC-06", "packets_disordered": "NIC-08", "buffers_lacking": "NIC-09",
    "module_hot": "NIC-05", "adapter_firmware": "NIC-10", "segments_lost": "HOST-13",
    "pause_storm": "NET-01", "credits_lacking": "NET-03", "lossless_drops": "NET-05",
    "switch_overheats": "NET-08", "checkpoint_slow": "STO-03", "storage_full": "STO-04",
    "mount_hangs": "STO-06", "metadata_storm": "STO-02", "target_offline": "STO-07",
    "client_evicted": "STO-05", "node_down": "HOST-01", "node_reboots": "HOST-12",
    "task_hangs": "HOST-02", "memory_errors": "HOST-05", "inodes_full": "HOST-07",
    "disk_fails": "HOST-08", "fan_fails": "HOST-10", "shared_memory_lacking": "HOST-11",
    "clock_skewed": "HOST-06", "coolant_leaks": "FAC-02", "leak_sensor_faulty": "FAC-03",
    "feed_overloaded": "FAC-08", "voltage_sags": "FAC-09", "room_humid": "FAC-06",
    "building_data_stale": "FAC-11", "loss_spikes": "TRN-02", "gradients_creep": "TRN-05",
    "efficiency_lost": "TRN-07", "silent_corruption": "GPU-CORE-10", "restart_loop": "TRN-10",
    "job_hangs": "COMM-01", "device_memory_lacking": "HOST-04", "agent_silent": "OBS-01",
}  # fmt: skip


def test_every_fault_names_the_cause_that_its_evidence_can_tell() -> None:
    first = {name: mode.expected(fault(name, 1.0, "gradual"))[0] for name, mode in FAULTS.items()}
    assert first == EXPECTED


def test_expected_causes_are_runbook_entries() -> None:
    known = set(runbooks.load().entries)
    told = {own for name, mode in FAULTS.items() for own in mode.expected(fault(name, 4.0))}
    assert told <= known


def test_what_evidence_cannot_tell_apart_is_expected_together() -> None:
    sudden = FAULTS["loss_nan"].expected(fault("loss_nan", 5))
    assert set(sudden) == {"TRN-03", "TRN-04", "GPU-CORE-10"}
    supplies = FAULTS["supplies_lost"].expected
    assert supplies(fault("supplies_lost", 2)) == ("FAC-07",)
    assert supplies(fault("supplies_lost", 3)) == ("FAC-07", "GPU-TP-03")


def test_table_covers_all_layers() -> None:
    assert {mode.layer for mode in FAULTS.values()} == set(get_args(Layer))
    assert len(FAULTS) >= 80


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", FAULTS)
def test_fault_at_rest_before_its_onset_turns_no_knob(mode: str, form: Form) -> None:
    machines = Machines(Fleet(nodes=2, cooling=cooling_of(mode)))
    knobs, rest = Knobs(machines, ("train",)), Knobs(machines, ("train",))
    own = fault(mode, FAULTS[mode].severities[1], form)
    FAULTS[mode].act(own, 0, 299.0, knobs)
    assert _turned(knobs, rest) == set()
    assert any(_turns(own, second, knobs, rest) for second in range(300, 700))


def _turns(own: Fault, second: int, knobs: Knobs, rest: Knobs) -> bool:
    knobs.clear()
    FAULTS[own.mode].act(own, 0, float(second), knobs)
    return bool(_turned(knobs, rest))


def _turned(knobs: Knobs, rest: Knobs) -> set[str]:
    arrays = {name: own for name, own in vars(knobs).items() if isinstance(own, np.ndarray)}
    turned = {name for name, own in arrays.items() if not np.array_equal(own, vars(rest)[name])}
    gradient = knobs.gradient["train"]
    going_wrong = gradient.factor > 1 or gradient.loss > 1 or gradient.is_nan
    told = {own.code for own in knobs.told}
    return turned | ({"gradient"} if going_wrong else set()) | told


def test_developed_seconds_are_the_sum_of_levels() -> None:
    for form in FORMS:
        own = fault("link_flapping", 1.0, form)
        summed = sum(level(own, second + 0.5) for second in range(300, 640))
        assert developed_seconds(own, 640) == pytest.approx(summed, abs=1.0)


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
        air.advance(knobs)
        gpus.advance(load, air.at_gpus(), knobs)
        readings.append(gpus.readings(load)["gpu_temperature_celsius"])
    windows = np.array(readings[900:]).reshape(-1, 30, 4).mean(axis=1)
    documented = noise_celsius(Scenario(name="x"))
    assert float(windows.std(axis=0).mean()) == pytest.approx(documented, rel=0.35)


def test_what_happens_once_happens_in_slow_fleets_too() -> None:
    own = fault("ecc_uncorrected", 1.0)
    machines = Machines(Fleet(nodes=2), beat=15)
    knobs, seen = Knobs(machines, ("train",)), 0.0
    for second in range(5, 900, 15):
        knobs.clear()
        FAULTS[own.mode].act(own, 0, float(second), knobs)
        seen += knobs.poisoned[0]
    assert seen == 1.0
