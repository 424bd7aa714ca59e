import collections
import itertools
from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

import simulator
from forewarn import entity as entities
from forewarn import wire
from forewarn.catalogue import CATALOGUE, Kind
from forewarn.inventory import Inventory
from forewarn.records import Frame, Outcome
from simulator import Scenario
from simulator.scenario import Fault, Imperfection, Job, Maintenance
from tests.simulator.recorded import PERFECT, Recorded

GPU = "node/n01/gpu/0000:43:00.0"
PORT = "node/n02/nic/mlx5_3/port/1"
PASTE = Fault(mode="thermal_paste", entity=GPU, onset_seconds=300, severity=5.0)
LINK = Fault(mode="link_errors", entity=PORT, onset_seconds=300, severity=20.0)
NAN = Fault(
    mode="loss_nan", entity="job/train", onset_seconds=300, severity=30.0, form="gradual",
    ramp_seconds=100,
)  # fmt: skip


def sent(scenario: Scenario, seed: int) -> list[object]:
    return list(simulator.simulate(scenario, seed))


def test_same_seed_sends_the_same_and_another_does_not(scenario: Callable[..., Scenario]) -> None:
    own = replace(scenario(PASTE, LINK, NAN), duration_seconds=400)
    simulation = simulator.simulate(own, 4)
    first = list(simulation)
    assert first == list(simulation) == sent(own, 4)
    assert first != sent(own, 5)


def test_a_fault_changes_nothing_before_its_onset(scenario: Callable[..., Scenario]) -> None:
    sick, well = sent(scenario(PASTE, LINK, NAN), 4), sent(scenario(), 4)
    assert sick[:300] == well[:300]
    assert sick[300:] != well[300:]


def test_fault_in_one_job_leaves_the_other_alone() -> None:
    jobs = tuple(Job(name=f"j{n}", nodes=(f"n0{n}",), checkpoint_every=50) for n in (1, 2))
    base = Scenario(
        name="two", duration_seconds=600, job=jobs,
        fleet=simulator.scenario.Fleet(nodes=2, gpus_per_node=4),
    )  # fmt: skip
    sick, well = Recorded(simulator.simulate(replace(base, fault=(PASTE,)), 1)), None
    well = Recorded(simulator.simulate(base, 1))
    rank = "job/j2/rank/0"
    assert np.array_equal(sick.get("rank_step_seconds", rank), well.get("rank_step_seconds", rank))
    assert not np.array_equal(
        sick.get("rank_step_seconds", "job/j1/rank/0"),
        well.get("rank_step_seconds", "job/j1/rank/0"),
    )


def test_every_signal_is_in_the_catalogue_at_the_right_kind_of_entity(healthy: Recorded) -> None:
    wrong = [
        (signal, entity)
        for signal, entity in healthy.series
        if CATALOGUE[signal].entity != entities.kind(entity)
    ]
    assert wrong == []
    for event in healthy.events:
        assert CATALOGUE[event.code.partition(":")[0]].entity == entities.kind(event.entity)


def test_every_entity_has_a_realistic_number_of_signals(healthy: Recorded) -> None:
    counts = collections.Counter(entity for _, entity in healthy.series)
    assert counts[GPU] == 35
    assert counts[PORT] == 26
    assert counts["node/n01"] == 20
    assert counts["node/n01/mount/%2Fdata"] == 7
    assert counts["rack/r01"] == 4
    assert counts["switch/leaf01/port/8"] == 8
    assert counts["job/train/rank/0"] == 4


def test_inventory_says_exactly_what_is_collected(healthy: Recorded) -> None:
    seen = collections.defaultdict(set)
    for signal, entity in healthy.series:
        seen[entity].add(signal)
    for item in healthy.inventory:
        told = {name for names in item.collects.values() for name in names}
        metrics = {name for name in told if CATALOGUE[name].is_metric}
        assert metrics == seen.get(item.entity, set()), item.entity
    told_of = {item.entity for item in healthy.inventory if "/psu/" not in item.entity}
    assert seen.keys() == told_of  # supply units have events only


def test_inventory_places_every_rank_on_its_gpu(healthy: Recorded) -> None:
    inventory = Inventory()
    for item in healthy.inventory:
        inventory.apply(item)
    ranks = inventory.ranks("train")
    assert len(ranks) == 8
    assert inventory.job_of(GPU) == inventory.job_of(PORT) == "train"
    assert inventory.attribute(GPU, "rack") == "r01"
    assert {"rack/r01", "switch/leaf01", "pdu/feed-1"} <= set(inventory.parents(GPU))
    plugged = inventory.attribute(PORT, "switch_port")
    assert inventory.attribute(str(plugged), "peer") == PORT
    uuids = {item.attributes["uuid"] for item in inventory if entities.kind(item.entity) == "gpu"}
    assert len(uuids) == 8


def test_sensors_show_whole_quanta(healthy: Recorded) -> None:
    for (signal, entity), rows in healthy.series.items():
        quantum = CATALOGUE[signal].quantum
        if quantum:
            steps = rows[:, 1] / quantum
            assert np.allclose(steps, np.round(steps), atol=1e-6), (signal, entity)


def test_counters_never_fall_without_a_reset(healthy: Recorded) -> None:
    for (signal, entity), rows in healthy.series.items():
        if CATALOGUE[signal].kind is Kind.COUNTER:
            assert np.all(np.diff(rows[:, 1]) >= 0), (signal, entity)
            assert np.all(rows[:, 1] >= 0)


def test_signals_come_at_the_period_of_the_catalogue(healthy: Recorded) -> None:
    for (signal, _), rows in healthy.series.items():
        if not signal.startswith(("job_", "rank_")):
            # All are read at the start; from then on each at its own beat.
            spacing = np.diff(rows[1:, 0])
            assert np.allclose(spacing, CATALOGUE[signal].period_seconds, atol=0.01), signal


def test_values_are_numbers_in_a_healthy_run(healthy: Recorded) -> None:
    assert all(np.all(np.isfinite(rows[:, 1])) for rows in healthy.series.values())


def test_healthy_run_never_throttles(healthy: Recorded) -> None:
    assert healthy.codes("gpu.clock_event") == []
    assert healthy.truth == ()
    for (signal, _), rows in healthy.series.items():
        if signal == "gpu_throttle_thermal_seconds_total":
            assert not rows[:, 1].any()


def test_healthy_scenario_throttles_nowhere_and_resets_counters() -> None:
    own = simulator.load(simulator.built_in()["healthy"])
    recorded = Recorded(simulator.simulate(own, 2))
    assert recorded.codes("gpu.clock_event") == []
    energy = recorded.series["gpu_energy_joules_total", "node/n06/gpu/0000:1b:00.0"][:, 1]
    assert np.sum(np.diff(energy) < 0) == 1


def test_bad_paste_is_told_by_heat_event_clock_and_rank(
    scenario: Callable[..., Scenario], record: Callable[..., Recorded]
) -> None:
    recorded = record(scenario(PASTE))
    before = recorded.get("gpu_temperature_celsius", GPU, 150, 300)
    after = recorded.get("gpu_temperature_celsius", GPU, 400)
    assert after.max() >= 87 > before.max() + 10
    events = recorded.codes("gpu.clock_event")
    assert {(entity, code) for _, entity, code in events} == {(GPU, "gpu.clock_event:hw_thermal")}
    assert min(seconds for seconds, _, _ in events) > 300
    assert recorded.get("gpu_core_clock_hertz", GPU, 400).min() < 1.2e9
    assert recorded.get("gpu_throttle_thermal_seconds_total", GPU)[-1] > 10
    compute = recorded.get("rank_compute_seconds", "job/train/rank/1", 400)
    assert compute.max() > 1.3 * np.median(recorded.get("rank_compute_seconds", "job/train/rank/5"))
    assert recorded.get("job_mfu_ratio", "job/train", 400).min() < 0.35


def test_bad_link_is_told_by_its_counters_only(
    scenario: Callable[..., Scenario], record: Callable[..., Recorded]
) -> None:
    recorded = record(scenario(LINK))
    for signal in ("nic_symbol_errors_total", "nic_rx_errors_total"):
        assert recorded.get(signal, PORT, 300)[-1] - recorded.get(signal, PORT, 0, 300)[-1] > 100
    others = {e for s, e in recorded.series if s == "nic_symbol_errors_total"} - {PORT}
    for entity in others:
        rows = recorded.get("nic_symbol_errors_total", entity)
        assert rows[-1] - rows[0] < 10
    assert recorded.codes("gpu.clock_event") == []


def test_nan_comes_after_a_climb_and_stays(
    scenario: Callable[..., Scenario], record: Callable[..., Recorded]
) -> None:
    recorded = record(scenario(NAN))
    norm = recorded.series["job_gradient_norm", "job/train"]
    loss = recorded.series["job_loss", "job/train"]
    climbing = (norm[:, 0] > 350) & (norm[:, 0] < 399)
    assert np.all(norm[climbing, 1] > 1.2)
    first = loss[np.isnan(loss[:, 1])][0, 0]
    assert 398 < first < 405
    assert np.all(np.isnan(loss[loss[:, 0] >= first, 1]))


def test_fault_that_ends_leaves_a_healthy_gpu(
    scenario: Callable[..., Scenario], record: Callable[..., Recorded]
) -> None:
    job = Job(name="train", nodes=("n01", "n02"), step_seconds=2.0, checkpoint_every=0)
    recorded = record(scenario(replace(PASTE, end_seconds=400), job=job))
    well = record(scenario(job=job)).get("gpu_temperature_celsius", GPU, 550)
    assert recorded.get("gpu_temperature_celsius", GPU, 550) == pytest.approx(well, abs=2)
    assert max(seconds for seconds, _, _ in recorded.codes("gpu.clock_event")) < 401
    start = recorded.scenario.start_unix_nano
    assert recorded.truth[0].end_unix_nano == start + 400 * 10**9


def frames_of(scenario: Scenario, node: str, seed: int = 1) -> list[Frame]:
    return [
        frame
        for instant in simulator.simulate(scenario, seed)
        for frame in instant.frames
        if frame.node == node
    ]


def test_lost_frame_leaves_a_gap_in_seq(scenario: Callable[..., Scenario]) -> None:
    own = replace(scenario(), imperfection=Imperfection(failed_reading=0, missed_frame=0.05))
    frames = frames_of(own, "n01")
    assert len(frames) < own.duration_seconds
    for before, after in itertools.pairwise(frames):
        seconds = round((after.time_unix_nano - before.time_unix_nano) / 1e9)
        assert after.seq - before.seq == seconds
    assert frames[-1].seq - frames[0].seq >= own.duration_seconds - 5


def test_failed_reading_is_nan_and_failed_never_zero(scenario: Callable[..., Scenario]) -> None:
    own = replace(scenario(), imperfection=Imperfection(failed_reading=1e-3, missed_frame=0))
    failed = 0
    for frame in frames_of(own, "n02"):
        values = np.frombuffer(frame.values)
        outcome = np.frombuffer(frame.outcome, dtype=np.uint8)
        wrong = np.flatnonzero(np.isnan(values))
        assert list(np.flatnonzero(outcome)) == list(wrong)
        assert set(outcome[wrong]) <= {Outcome.FAILED}
        failed += len(wrong)
    assert failed > 10


def test_frames_and_events_survive_the_wire(scenario: Callable[..., Scenario]) -> None:
    own = scenario(PASTE, duration=400)
    for instant in simulator.simulate(own, 1):
        for frame in (*instant.frames, *instant.job_frames):
            assert wire.decode_frame(wire.encode_frame(frame)) == frame
        for event in instant.events:
            assert wire.decode_event(wire.encode_event(event)) == event
        for item in instant.inventory:
            assert wire.decode_inventory(wire.encode_inventory(item)) == item


def test_layouts_are_few_and_the_same_bytes(scenario: Callable[..., Scenario]) -> None:
    layouts = {frame.layout for frame in frames_of(scenario(), "n01")}
    assert len(layouts) == 3


def test_everything_sent_in_a_second_lies_in_it(scenario: Callable[..., Scenario]) -> None:
    for instant in simulator.simulate(scenario(PASTE, duration=400), 1):
        times = [frame.time_unix_nano for frame in (*instant.frames, *instant.job_frames)]
        times += [event.time_unix_nano for event in instant.events]
        # Clocks of nodes are off by some tens of microseconds, agents late by milliseconds.
        assert all(-0.001 < (t - instant.time_unix_nano) / 1e9 < 1.01 for t in times)


def test_job_frames_come_from_every_node_once_a_step(scenario: Callable[..., Scenario]) -> None:
    own = scenario()
    job_frames = [f for i in simulator.simulate(own, 1) for f in i.job_frames]
    assert {frame.source for frame in job_frames} == {"reporter:train"}
    by_node = collections.Counter(frame.node for frame in job_frames)
    assert by_node["n01"] == by_node["n02"] > 200


def test_reboot_is_silence_then_a_new_boot_and_fresh_counters() -> None:
    own = Scenario(
        name="reboot", duration_seconds=120, imperfection=PERFECT,
        fleet=simulator.scenario.Fleet(nodes=2, gpus_per_node=2),
        maintenance=(Maintenance(kind="reboot", node="n02", at_seconds=40, down_seconds=30),),
    )  # fmt: skip
    frames = frames_of(own, "n02")
    assert [frame.seq for frame in frames] == [*range(1, 41), *range(1, 51)]
    assert len({frame.boot_id for frame in frames}) == 2
    recorded = Recorded(simulator.simulate(own, 1))
    assert recorded.codes("node.maintenance")[0][1:] == ("node/n02", "node.maintenance:planned")
    energy = recorded.series["gpu_energy_joules_total", "node/n02/gpu/0000:1b:00.0"][:, 1]
    assert np.sum(np.diff(energy) < 0) == 1
    again = [recorded.seconds(i.time_unix_nano) for i in recorded.inventory if "n02" in i.entity]
    assert sorted({round(seconds) for seconds in again}) == [0, 70]


def test_ended_job_takes_its_ranks_away(record: Callable[..., Recorded]) -> None:
    job = Job(name="train", nodes=("n01",), end_seconds=100, checkpoint_every=0)
    base = Scenario(
        name="end", duration_seconds=160, job=(job,),
        fleet=simulator.scenario.Fleet(nodes=1, gpus_per_node=2),
    )  # fmt: skip
    recorded = record(base)
    removed = {item.entity for item in recorded.inventory if item.removed}
    assert removed == {"job/train", "job/train/rank/0", "job/train/rank/1"}
    assert [code for _, _, code in recorded.codes("job.state")] == [
        "job.state:running", "job.state:completed",
    ]  # fmt: skip
    assert recorded.get("gpu_power_watts", "node/n01/gpu/0000:1b:00.0", 150).max() < 120
