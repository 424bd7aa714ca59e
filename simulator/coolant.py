"""Coolant: distribution units that pump it through the racks on their loop.

A unit holds the flow of its loop; racks share it by their conductance, a valve and the path through
the cold plates in series, and each rack's valve opens to keep the rack's flow. Less flow warms the
coolant more and lets less heat through the cold plates: their resistance to the coolant goes with
flow^-0.6 (between laminar and turbulent).
"""

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.knobs import Knobs
from simulator.scenario import LiquidCooling
from simulator.seeds import generator
from simulator.wander import settle, wander

JOULES_PER_LITER_KELVIN = 4186.0 * 0.998
RISE_KELVIN = 9.0  # in a rack at full load and nominal flow
LIQUID_SHARE = 0.93  # of the GPUs' heat; air takes the rest
PUMP_RATIO, VALVE_RATIO, VALVE_SPREAD = 0.65, 0.55, 0.03
VALVE_SHARE = 0.5  # of a healthy rack's pressure drop is at its valve
PUMP_SECONDS, VALVE_SECONDS, HEAT_SECONDS, SUPPLY_SECONDS = 4.0, 15.0, 20.0, 30.0
SUPPLY_WANDER_CELSIUS, SUPPLY_WANDER_SECONDS = 0.15, 600.0
FLOW_NOISE, TEMPERATURE_NOISE_CELSIUS = 0.012, 0.1
LOOP_PASCALS, RACK_PASCALS, RETURN_PASCALS = 1.2e5, 6e4, 1.3e5
PLATE_EXPONENT = -0.6
LEAST = 0.03  # of the nominal flow: what thermal siphoning leaves


class Coolant:
    """All loops and their racks; flows in liters per second."""

    def __init__(self, machines: Machines, cooling: LiquidCooling, seed: int) -> None:
        self._machines, self._set_point = machines, cooling.coolant_celsius
        made, racks, loops = generator(seed, "coolant.made"), len(machines.racks), machines.loops
        self._noise = generator(seed, "coolant.noise")
        full = machines.most_by_rack(machines.of_nodes.power_limit_watts * machines.width)
        self._rack_flow = full * LIQUID_SHARE / (JOULES_PER_LITER_KELVIN * RISE_KELVIN)
        self._loop_flow = np.bincount(machines.loop_of, self._rack_flow)
        self._valve_made = VALVE_RATIO + made.normal(0, VALVE_SPREAD, racks).clip(-0.08, 0.08)
        self.valve: Floats = self._valve_made.copy()
        self.pump: Floats = np.full(len(loops), 1.0)  # share of the ordinary speed
        self._wander: Floats = made.normal(0, SUPPLY_WANDER_CELSIUS, len(loops))
        self._warm: Floats = np.zeros(len(loops))
        self.share: Floats = np.ones(racks)  # of its nominal flow that a rack gets
        self._rise: Floats = np.full(racks, 1.0)
        half = (machines.width + 1) // 2
        rear = np.tile(np.arange(machines.width) >= half, len(machines.nodes))
        self._way = np.where(rear, 0.75, 0.25)  # share of the rise that lies before a GPU
        self._clogged: Floats = np.zeros(racks)
        self._leaking: Floats = np.zeros(racks)
        self._blind: Floats = np.zeros(racks)

    def advance(self, gpu_watts: Floats, knobs: Knobs) -> None:
        """Go on by one beat with the heat of all GPUs."""
        loop_of, beat = self._machines.loop_of, self._machines.beat
        self._clogged = knobs.clogged.copy()
        self._leaking, self._blind = knobs.leaking.copy(), knobs.leak_blind.copy()
        settle(self.pump, 1.0 - knobs.pump_lost, PUMP_SECONDS, beat)
        left = 1.0 - (1.0 - VALVE_SHARE) / ((1.0 - self._clogged) * self.pump[loop_of]) ** 2
        asked = self._valve_made * np.sqrt(VALVE_SHARE / np.maximum(left, 1e-3))
        settle(self.valve, np.minimum(asked, 1.0), VALVE_SECONDS, beat)
        conducts = self._conducts() * self._rack_flow
        per_loop = self._loop_flow / np.bincount(loop_of, conducts)
        share = conducts * per_loop[loop_of] / self._rack_flow
        self.share = np.maximum(share * self.pump[loop_of], LEAST)
        noise = self._noise.normal(size=len(self._wander))
        self._wander = wander(
            self._wander, SUPPLY_WANDER_CELSIUS, SUPPLY_WANDER_SECONDS, noise, beat
        )
        settle(self._warm, knobs.coolant_kelvin, SUPPLY_SECONDS, beat)
        heat = self._machines.by_rack(self._machines.total(gpu_watts)) * LIQUID_SHARE
        rise = heat / (JOULES_PER_LITER_KELVIN * self._rack_flow * self.share)
        settle(self._rise, rise, HEAT_SECONDS, beat)

    def _conducts(self) -> Floats:
        return conductance(self.valve / self._valve_made, 1.0 - self._clogged)

    def supply(self) -> Floats:
        """Return the supply temperature of every loop."""
        celsius: Floats = self._set_point + self._wander + self._warm
        return celsius

    def at_gpus(self) -> Floats:
        """Return the temperature of the coolant at every GPU's plate."""
        racks = self._machines.rack_of
        supply = self.supply()[self._machines.loop_of][racks]
        spread = self._machines.spread
        return spread(supply) + self._way * spread(self._rise[racks])

    def plate(self) -> Floats:
        """Return the factor on the resistance between plate and coolant, by GPU."""
        by_rack: Floats = self.share**PLATE_EXPONENT
        return self._machines.spread(by_rack[self._machines.rack_of])

    def readings(self) -> dict[str, Floats]:
        """Return what the building's controllers show of loops and racks."""
        return {**self._loop_readings(), **self._rack_readings()}

    def _loop_readings(self) -> dict[str, Floats]:
        loop_of, count = self._machines.loop_of, len(self.pump)
        noise = self._noise.normal(size=(5, count))
        flow, supply = self._loop_flow * self.pump, self.supply()
        warmed = np.bincount(loop_of, self._rise * self.share * self._rack_flow)
        back = supply + warmed / flow
        conducts = np.bincount(loop_of, self._conducts() * self._rack_flow) / self._loop_flow
        drop = LOOP_PASCALS * (self.pump / conducts) ** 2 * (1 + 0.02 * noise[3])
        return {
            "facility_coolant_flow_liters_per_second": flow * (1 + FLOW_NOISE * noise[0]),
            "facility_coolant_supply_temperature_celsius": supply
            + TEMPERATURE_NOISE_CELSIUS * noise[1],
            "facility_coolant_return_temperature_celsius": back
            + TEMPERATURE_NOISE_CELSIUS * noise[2],
            "facility_coolant_differential_pressure_pascals": drop,
            "facility_coolant_supply_pressure_pascals": RETURN_PASCALS + drop,
            "facility_coolant_return_pressure_pascals": RETURN_PASCALS * (1 + 0.01 * noise[4]),
            "facility_heat_removed_watts": JOULES_PER_LITER_KELVIN * flow * (back - supply),
            "facility_pump_speed_ratio": np.round(PUMP_RATIO * self.pump + 0.003 * noise[4], 3),
        }

    def _rack_readings(self) -> dict[str, Floats]:
        noise = self._noise.normal(size=(3, len(self.share)))
        flow = self._rack_flow * self.share * (1 + FLOW_NOISE * noise[0])
        back = self.supply()[self._machines.loop_of] + self._rise
        flow *= 1.0 - self._leaking
        drop = RACK_PASCALS * (self.share * (1.0 - self._leaking) / (1.0 - self._clogged)) ** 2
        return {
            "rack_coolant_flow_liters_per_second": flow,
            "rack_coolant_return_temperature_celsius": back + TEMPERATURE_NOISE_CELSIUS * noise[1],
            "rack_coolant_differential_pressure_pascals": drop * (1 + 0.02 * noise[2]),
            "rack_coolant_valve_position_ratio": np.round(self.valve, 2),
            "rack_leak_detected": (self._leaking > 0).astype(float),
            "rack_leak_sensor_fault": self._blind,
        }


def conductance(valve: Floats, path: Floats) -> Floats:
    """Return the conductance of a rack from those of its valve and its path, 1 is healthy.

    Turbulent drops add: 1/g^2 = VALVE_SHARE/valve^2 + (1 - VALVE_SHARE)/path^2.
    """
    whole: Floats = (VALVE_SHARE / valve**2 + (1.0 - VALVE_SHARE) / path**2) ** -0.5
    return whole
