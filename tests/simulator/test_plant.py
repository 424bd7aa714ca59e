import collections
from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

import simulator
from forewarn import wire
from forewarn.catalogue import CATALOGUE
from forewarn.inventory import Inventory
from simulator import Scenario
from simulator.coolant import Coolant, conductance
from simulator.fleet import Machines
from simulator.knobs import Knobs
from simulator.power import SUPPLY_WATTS, Power
from simulator.scenario import Fault, Fleet, LiquidCooling
from tests.simulator.recorded import Recorded

LIQUID = LiquidCooling(racks_per_loop=4)
MACHINES = Machines(Fleet(nodes=16, nodes_per_rack=2, cooling=LIQUID))
WATTS = np.full(len(MACHINES.gpus), 620.0)


def run(coolant: Coolant, knobs: Knobs, seconds: int = 200) -> dict[str, np.ndarray]:
    for _ in range(seconds):
        coolant.advance(WATTS, knobs)
    return coolant.readings()


def test_heat_that_coolant_carries_is_what_the_gpus_give() -> None:
    readings = run(Coolant(MACHINES, LIQUID, 1), Knobs(MACHINES, ()))
    carried = readings["facility_heat_removed_watts"].sum()
    assert carried == pytest.approx(0.93 * WATTS.sum(), rel=0.05)


def test_less_pump_is_less_flow_on_its_loop_only_and_warmer_coolant() -> None:
    knobs = Knobs(MACHINES, ())
    knobs.pump_lost[0] = 0.5
    coolant = Coolant(MACHINES, LIQUID, 1)
    healthy = coolant.at_gpus()
    readings = run(coolant, knobs)
    flow = readings["facility_coolant_flow_liters_per_second"]
    assert flow[0] == pytest.approx(0.5 * flow[1], rel=0.06)
    assert np.all((coolant.at_gpus() - healthy)[:64] > 2.0)
    assert np.all(coolant.plate()[:64] > 1.3)
    assert np.allclose(coolant.plate()[64:], 1.0, atol=0.01)


def test_valve_makes_up_for_a_little_clogging_and_not_for_much() -> None:
    knobs = Knobs(MACHINES, ())
    knobs.clogged[1], knobs.clogged[6] = 0.15, 0.8
    readings = run(Coolant(MACHINES, LIQUID, 1), knobs)
    flow = readings["rack_coolant_flow_liters_per_second"]
    assert flow[1] == pytest.approx(flow[0], rel=0.06)
    assert flow[6] < 0.5 * flow[5]
    assert readings["rack_coolant_valve_position_ratio"][6] == 1.0
    drop = readings["rack_coolant_differential_pressure_pascals"]
    assert drop[6] > 1.5 * drop[5]
    loops = readings["facility_coolant_flow_liters_per_second"]
    assert loops[0] == pytest.approx(loops[1], rel=0.06)


def test_conductance_of_healthy_parts_is_one() -> None:
    one = np.ones(1)
    assert conductance(one, one)[0] == pytest.approx(1.0)


def test_supplies_carry_a_full_rack_with_one_to_spare() -> None:
    power, knobs = Power(MACHINES, 1), Knobs(MACHINES, ())
    full = MACHINES.models[0].power_limit_watts * 8 + 1.3 * MACHINES.models[0].node_overhead_watts
    node_watts = np.full(16, full)
    knobs.supplies_lost[0] = 1
    power.advance(node_watts, knobs)
    assert not power.braked().any()
    knobs.supplies_lost[0] = 2
    power.advance(node_watts, knobs)
    assert list(np.flatnonzero(power.braked())) == list(range(16))
    power.advance(node_watts / 2, knobs)
    assert power.braked().any()
    knobs.supplies_lost[0] = 0
    power.advance(node_watts / 2, knobs)
    assert not power.braked().any()
    assert power.readings()["rack_power_limit_watts"][0] == power.supplies[0] * SUPPLY_WATTS


@pytest.fixture(scope="module")
def liquid() -> Recorded:
    own = Scenario(
        name="plant", duration_seconds=130,
        fleet=Fleet(nodes=8, nodes_per_rack=2, gpus_per_node=4, cooling=LIQUID),
    )  # fmt: skip
    return Recorded(simulator.simulate(own, 3))


def test_everything_in_the_plant_is_read_by_an_agent_of_its_own(liquid: Recorded) -> None:
    senders = collections.defaultdict(set)
    for instant in simulator.simulate(liquid.scenario, 3):
        for frame in instant.frames:
            kinds = {name.split("/")[0] for name in wire.decode_layout(frame.layout).entities}
            senders[frame.node, frame.source] |= kinds
    assert senders["mgmt-1", "bms"] == {"rack", "facility", "cdu"}
    assert senders["mgmt-2", "power"] == {"rack", "pdu"}
    assert senders["mgmt-3", "fabric"] == {"switch"}
    assert senders["mgmt-4", "storage"] == {"storage_target"}
    assert senders["n01", "agent"] == {"node"}


def test_common_parents_can_be_found_from_the_inventory(liquid: Recorded) -> None:
    inventory = Inventory()
    for item in liquid.inventory:
        inventory.apply(item)
    gpu = "node/n05/gpu/0000:43:00.0"
    parents = {"rack/r03", "switch/leaf03", "cdu/cdu-1", "pdu/feed-2"}
    assert parents <= set(inventory.parents(gpu))
    assert {"rack/r01", "node/n01", gpu, "rack/r01/psu/1"} <= inventory.below("cdu/cdu-1")
    assert inventory.attribute("node/n05/mount/%2Fdata", "storage") == "fs1"
    for item in inventory:
        for names in item.collects.values():
            assert set(names) <= set(CATALOGUE)


def test_gateways_read_every_ten_seconds(liquid: Recorded) -> None:
    flow = liquid.series["facility_coolant_flow_liters_per_second", "cdu/cdu-1"]
    assert np.allclose(np.diff(flow[1:, 0]), 10, atol=0.01)


def test_switch_that_is_down_says_so_and_nothing_else(scenario: Callable[..., Scenario]) -> None:
    own = Fault(mode="switch_down", entity="switch/leaf01", onset_seconds=300, severity=20.0)
    run = Recorded(simulator.simulate(scenario(own, duration=400), 1))
    assert run.get("switch_up", "switch/leaf01", 310).max() == 0
    assert len(run.get("switch_temperature_celsius", "switch/leaf01", 301)) == 0
    assert run.codes("switch.port_state") == []


def test_air_of_a_room_swings_as_told() -> None:
    cooling = LiquidCooling(swing_celsius=3.0, swing_seconds=600, wander_celsius=0.0)
    own = Scenario(name="swing", duration_seconds=600, fleet=Fleet(nodes=2, cooling=cooling))
    room = Recorded(simulator.simulate(own, 1)).get(
        "facility_room_temperature_celsius", "facility/room-1"
    )
    assert 4.0 < np.ptp(room) < 6.5


def test_raw_meters_beat_with_the_steps_and_smooth_ones_do_not(
    scenario: Callable[..., Scenario],
) -> None:
    spreads = []
    for share in (0.0, 1.0):
        own = scenario(duration=300)
        fleet = Fleet(nodes=2, gpus_per_node=4, raw_meters=share)
        own = replace(own, fleet=fleet)
        run = Recorded(simulator.simulate(own, 1))
        spreads.append(run.get("node_power_watts", "node/n01", 60, 200).std())
    assert spreads[1] > 2 * spreads[0]
