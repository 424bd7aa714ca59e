"""Every fault shows what it should where it should, and nothing beyond its reach."""

import collections

import numpy as np
import pytest

import simulator
from forewarn.catalogue import CATALOGUE, Kind, Signal
from simulator import Scenario
from simulator.faults import FAULTS
from simulator.scenario import AirCooling, Cooling, Fault, Fleet, Job, LiquidCooling
from tests.simulator.faults.more_signs import MORE
from tests.simulator.recorded import PERFECT, Recorded

ONSET, LATER, END = 200, 280, 470
GPU, PORT, UPLINK = (
    "node/n01/gpu/0000:43:00.0",
    "node/n01/nic/mlx5_1/port/1",
    "switch/leaf01/port/5",
)
LOCAL, SHARED = "node/n01/mount/%2Fscratch", "node/n01/mount/%2Fdata"
RANK, JOB = "job/a/rank/1", "job/a"
# Mode: entity, severity; what moves (signal, where, up or down); error counters and states that
# move at all, by entity; codes of events.
Move = tuple[str, str, str]
SIGNS: dict[str, tuple[str, float, tuple[Move, ...], tuple[tuple[str, str], ...], set[str]]] = {
    "thermal_paste": (GPU, 4.8, (
        ("gpu_temperature_celsius", GPU, "up"), ("gpu_memory_temperature_celsius", GPU, "up"),
        ("gpu_core_clock_hertz", GPU, "down"), ("rank_compute_seconds", RANK, "up"),
        ("rank_communication_seconds", "job/a/rank/5", "up"), ("job_step_seconds", JOB, "up"),
    ), (("gpu_clock_event_reasons", GPU),), {"gpu.clock_event:hw_thermal"}),
    "ecc_corrected": (GPU, 1.5, (), (("gpu_ecc_corrected_errors_total", GPU),), set()),
    "ecc_uncorrected": (GPU, 1.0, (), (
        ("gpu_ecc_uncorrected_errors_total", GPU), ("gpu_row_remap_pending", GPU),
    ), {"nvidia.xid:48", "nvidia.xid:63", "nvidia.xid:94", "job.state:failed",
        "job.state:restarted"}),
    "gpu_lost": (GPU, 1.0, (("node_gpus_present", "node/n01", "down"),), (
        ("node_pcie_corrected_errors_total", "node/n01"),
    ), {"nvidia.xid:79", "job.state:failed"}),
    "link_crc": (GPU, 1.5, (), (
        ("scale_up_crc_errors_total", GPU), ("scale_up_replays_total", GPU),
        ("scale_up_recoveries_total", GPU),
    ), set()),
    "pcie_width": (GPU, 1.0, (
        ("rank_data_wait_seconds", RANK, "up"), ("job_step_seconds", JOB, "up"),
    ), (
        ("gpu_pcie_link_width", GPU), ("gpu_pcie_replays_total", GPU),
        ("node_pcie_corrected_errors_total", "node/n01"),
    ), set()),
    "link_errors": (PORT, 3.0, (
        ("nic_bit_error_ratio", PORT, "up"), ("nic_optical_rx_power_watts", PORT, "down"),
    ), (("nic_symbol_errors_total", PORT), ("nic_rx_errors_total", PORT)), set()),
    "link_flapping": (PORT, 4.0, (("rank_communication_seconds", RANK, "up"),), (
        ("nic_link_up", PORT), ("nic_carrier_changes_total", PORT),
        ("nic_link_downed_total", PORT),
    ), {"nic.link_state:down", "nic.link_state:active", "switch.port_state:down",
        "switch.port_state:up"}),
    "switch_down": ("switch/leaf01", 20.0, (), (
        ("switch_up", "switch/leaf01"),
        *((s, f"node/n01/nic/mlx5_{n}/port/1") for n in range(4)
          for s in ("nic_link_up", "nic_link_downed_total")),
    ), {"nic.link_state:down", "nccl.error:ib_error_12", "job.state:failed"}),
    "congestion": ("switch/leaf01", 0.6, (
        ("nic_cnp_handled_packets_total", PORT, "up"), ("nic_ecn_marked_packets_total", PORT, "up"),
        ("switch_port_utilization_ratio", UPLINK, "up"), ("job_communication_seconds", JOB, "up"),
        ("switch_port_buffer_watermark_bytes", UPLINK, "up"),
    ), tuple(("switch_port_discards_total", f"switch/leaf01/port/{n}") for n in range(5, 13)),
        set()),
    "storage_saturated": ("storage_target/fs1", 14.0, (
        ("storage_operation_latency_seconds", SHARED, "up"),
        ("storage_rpc_slot_wait_seconds", "node/n02/mount/%2Fdata", "up"),
        ("rank_data_wait_seconds", "job/a/rank/7", "up"), ("gpu_power_watts", GPU, "down"),
        ("storage_target_io_seconds_total", "storage_target/fs1", "up"),
        ("node_cpu_iowait_ratio", "node/n02", "up"),
    ), tuple(("storage_rpc_backlogged_requests_total", f"node/n0{n}/mount/%2Fdata")
             for n in (1, 2)), set()),
    "disk_full": (LOCAL, 1.0, (("node_filesystem_used_ratio", LOCAL, "up"),), (),
                  {"job.log_event:enospc"}),
    "cpu_contention": ("node/n01", 0.9, (
        ("node_cpu_utilization_ratio", "node/n01", "up"),
        ("node_pressure_cpu_seconds_total", "node/n01", "up"),
        ("rank_compute_seconds", RANK, "up"), ("rank_communication_seconds", "job/a/rank/5", "up"),
    ), (), set()),
    "host_oom": ("node/n01", 0.95, (), (),
                 {"kernel.oom:global", "job.state:failed", "job.state:restarted"}),
    "coolant_flow_loss": ("cdu/cdu-1", 0.6, (
        ("facility_coolant_flow_liters_per_second", "cdu/cdu-1", "down"),
        ("facility_pump_speed_ratio", "cdu/cdu-1", "down"),
        ("facility_coolant_differential_pressure_pascals", "cdu/cdu-1", "down"),
        ("rack_coolant_return_temperature_celsius", "rack/r02", "up"),
        ("gpu_temperature_celsius", GPU, "up"),
        ("gpu_temperature_celsius", "node/n02/gpu/0000:1b:00.0", "up"),
    ), (), set()),
    "rack_restricted": ("rack/r01", 0.75, (
        ("rack_coolant_flow_liters_per_second", "rack/r01", "down"),
        ("rack_coolant_valve_position_ratio", "rack/r01", "up"),
        ("rack_coolant_return_temperature_celsius", "rack/r01", "up"),
        ("rack_coolant_differential_pressure_pascals", "rack/r01", "up"),
        ("gpu_temperature_celsius", GPU, "up"),
    ), (), set()),
    "coolant_warm": ("cdu/cdu-1", 9.0, (
        ("facility_coolant_supply_temperature_celsius", "cdu/cdu-1", "up"),
        ("gpu_temperature_celsius", "node/n02/gpu/0000:1b:00.0", "up"),
    ), (), set()),
    "room_warm": ("facility/room-1", 8.0, (
        ("facility_room_temperature_celsius", "facility/room-1", "up"),
        ("rack_inlet_temperature_celsius", "rack/r02", "up"),
        ("node_inlet_temperature_celsius", "node/n01", "up"),
        ("node_fan_speed_ratio", "node/n01", "up"), ("gpu_temperature_celsius", GPU, "up"),
    ), (), set()),
    "supplies_lost": ("rack/r01", 1.0, (("rack_power_supplies_up", "rack/r01", "down"),), (),
                      {"psu.state:lost"}),
    "data_starved": (JOB, 0.4, (
        ("rank_data_wait_seconds", RANK, "up"), ("rank_data_wait_seconds", "job/a/rank/7", "up"),
        ("gpu_utilization_ratio", GPU, "down"), ("job_step_seconds", JOB, "up"),
    ), (), set()),
    "slow_loader": (RANK, 0.4, (
        ("rank_data_wait_seconds", RANK, "up"),
        ("rank_communication_seconds", "job/a/rank/7", "up"),
        ("job_step_seconds", JOB, "up"),
    ), (), set()),
    "loss_nan": (JOB, 30.0, (), (), set()),
}  # fmt: skip
SIGNS |= MORE
LIQUID = LiquidCooling(racks_per_loop=2)


def scenario(cooling: Cooling, *faults: Fault) -> Scenario:
    """Return four racks of one node each; jobs a and b share no rack, loop, room or storage."""
    jobs = (("a", ("n01", "n02")), ("b", ("n03", "n04")))
    return Scenario(
        name="signs",
        duration_seconds=END,
        imperfection=PERFECT,
        fleet=Fleet(nodes=4, gpus_per_node=4, nodes_per_rack=1, racks_per_storage=2,
                    racks_per_room=2, cooling=cooling),
        job=tuple(Job(name=n, nodes=own, step_seconds=2.0, checkpoint_every=70) for n, own in jobs),
        fault=faults,
    )  # fmt: skip


@pytest.fixture(scope="module")
def wells() -> dict[str, Recorded]:
    both = {"liquid": LIQUID, "air": AirCooling()}
    return {kind: Recorded(simulator.simulate(scenario(own), 1)) for kind, own in both.items()}


@pytest.fixture(scope="module", params=SIGNS)
def pair(request: pytest.FixtureRequest, wells: dict[str, Recorded]) -> tuple[Recorded, Recorded]:
    """Return a run with the fault and the same run without it."""
    mode = str(request.param)
    entity, severity, *_ = SIGNS[mode]
    own = Fault(mode=mode, entity=entity, onset_seconds=ONSET, severity=severity)
    kind = FAULTS[mode].cooling or "liquid"
    cooling = LIQUID if kind == "liquid" else AirCooling()
    return Recorded(simulator.simulate(scenario(cooling, own), 1)), wells[kind]


def mode_of(sick: Recorded) -> str:
    return sick.truth[0].mode


def level(run: Recorded, signal: str, entity: str) -> float:
    """Return the mean after the onset, of a counter its growth."""
    values = run.get(signal, entity, LATER)
    if CATALOGUE[signal].kind is Kind.COUNTER:
        return float(values[-1] - values[0])
    return float(values.mean())


def counts_errors(row: Signal) -> bool:
    """Say whether a counter counts what should not be; marks of traffic control are ordinary."""
    flow = ("_ticks_total", "_cnp_handled_packets_total", "_cnp_sent_packets_total",
            "_ecn_marked_packets_total")  # fmt: skip
    return (
        row.unit == "count" and row.bad in {"high", "any_increase"} and not row.name.endswith(flow)
    )


def alarms(run: Recorded) -> set[tuple[str, str]]:
    """Return error counters that grew, by a handful where some may, and states that moved."""
    out = set()
    for (signal, entity), rows in run.series.items():
        row, before = CATALOGUE[signal], rows[rows[:, 0] < ONSET, 1]
        after = rows[rows[:, 0] >= ONSET, 1]
        if row.kind is Kind.STATE:
            if len(after) and set(after) - set(before) and signal != "gpu_clock_event_reasons":
                out.add((signal, entity))
        elif row.kind is Kind.COUNTER and counts_errors(row):
            least = 1 if row.bad == "any_increase" else 3
            if len(after) and after[-1] - before[-1] >= least:
                out.add((signal, entity))
    return out


def test_table_of_signs_has_every_fault() -> None:
    assert SIGNS.keys() == FAULTS.keys()


def test_fault_moves_its_signals_by_more_than_their_noise(pair: tuple[Recorded, Recorded]) -> None:
    sick, well = pair
    for signal, entity, way in SIGNS[mode_of(sick)][2]:
        change = level(sick, signal, entity) - level(well, signal, entity)
        noise = 0.0
        if CATALOGUE[signal].kind is not Kind.COUNTER:
            noise = float(well.get(signal, entity, 100, ONSET).std() / 3)
        assert (change if way == "up" else -change) > noise, (signal, entity, change)


def test_fault_raises_its_own_errors_and_states_only(pair: tuple[Recorded, Recorded]) -> None:
    sick, well = pair
    wanted = {own for own in SIGNS[mode_of(sick)][3] if own[0] != "gpu_clock_event_reasons"}
    assert alarms(sick) - alarms(well) == wanted - alarms(well)


def test_fault_is_told_by_its_own_events_only(pair: tuple[Recorded, Recorded]) -> None:
    sick, well = pair
    codes = {event.code for event in sick.events} - {event.code for event in well.events}
    assert codes == SIGNS[mode_of(sick)][4]
    counts = collections.Counter(event.entity.split("/")[1] for event in sick.events)
    assert counts["b"] == sum(event.entity == "job/b" for event in well.events)


def test_fault_leaves_the_other_job_alone(pair: tuple[Recorded, Recorded]) -> None:
    sick, well = pair
    for signal in ("rank_compute_seconds", "rank_data_wait_seconds", "rank_communication_seconds"):
        for rank in range(8):
            entity = f"job/b/rank/{rank}"
            assert np.allclose(sick.get(signal, entity), well.get(signal, entity)), (signal, rank)
    heat = "gpu_temperature_celsius"
    for entity in ("node/n03/gpu/0000:43:00.0", "node/n04/gpu/0000:61:00.0"):
        assert np.allclose(sick.get(heat, entity), well.get(heat, entity), atol=1.0)


def test_lost_gpu_answers_nothing_and_its_neighbours_all() -> None:
    own = Fault(mode="gpu_lost", entity=GPU, onset_seconds=ONSET, severity=1.0)
    run = Recorded(simulator.simulate(scenario(LIQUID, own), 1))
    for (signal, entity), rows in run.series.items():
        if entity == GPU:
            assert rows[-1, 0] < ONSET, signal
        elif "/gpu/" in entity and CATALOGUE[signal].period_seconds <= 10:
            assert rows[-1, 0] > END - 11, (signal, entity)
    assert "job.state:restarted" not in {event.code for event in run.events}


def test_loss_goes_nan_and_nothing_else_does() -> None:
    own = Fault(mode="loss_nan", entity=JOB, onset_seconds=ONSET, severity=30.0)
    run = Recorded(simulator.simulate(scenario(LIQUID, own), 1))
    nan = {key for key, rows in run.series.items() if np.isnan(rows[:, 1]).any()}
    assert nan == {("job_loss", JOB), ("job_gradient_norm", JOB)}


def test_spike_of_the_loss_comes_back_within_a_minute() -> None:
    own = Fault(mode="loss_spikes", entity=JOB, onset_seconds=ONSET, severity=1.6)
    run = Recorded(simulator.simulate(scenario(LIQUID, own), 1))
    before = run.get("job_loss", JOB, 60, ONSET).mean()
    assert run.get("job_loss", JOB, ONSET, ONSET + 8).max() > 1.35 * before
    assert run.get("job_loss", JOB, ONSET + 120).max() < 1.1 * before


def test_many_lost_supplies_pull_the_brake_on_the_whole_rack_only() -> None:
    own = Fault(mode="supplies_lost", entity="rack/r01", onset_seconds=300, severity=3.0)
    base = Scenario(
        name="brake", duration_seconds=480, imperfection=PERFECT, fault=(own,),
        fleet=Fleet(nodes=8, cooling=LIQUID),
        job=(Job(name="a", nodes=("n01", "n02", "n03", "n04"), checkpoint_every=0),
             Job(name="b", nodes=("n05", "n06", "n07", "n08"), checkpoint_every=0)),
    )  # fmt: skip
    run = Recorded(simulator.simulate(base, 1))
    braked = {entity for _, entity, _ in run.codes("gpu.clock_event")}
    assert {code for _, _, code in run.codes("gpu.clock_event")} == {
        "gpu.clock_event:hw_power_brake"
    }
    assert len(braked) == 32
    assert all(entity.split("/")[1] <= "n04" for entity in braked)
    assert (
        run.get("rack_power_watts", "rack/r01", 400).mean()
        < 0.7 * run.get("rack_power_watts", "rack/r02", 400).mean()
    )
