"""The air that the machines breathe: rooms that wander and swing slowly, and each node's place."""

import math

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.knobs import Knobs
from simulator.scenario import Cooling
from simulator.seeds import generator
from simulator.wander import settle, wander

ROOM_SECONDS, NODE_SECONDS = 900.0, 300.0  # how fast a room's and a node's air wander
NODE_SPREAD_CELSIUS, NODE_WANDER_CELSIUS = 0.6, 0.1
# In a tray of two rows the rear one breathes what the front one has warmed.
REAR_CELSIUS = 5.0
RETURNS_SECONDS = 90.0  # until the air around a rack has mixed
ROOM_WARMS_SECONDS = 60.0  # a room follows its coolers this slowly
HUMIDITY_RATIO, DEW_POINT_CELSIUS = 0.42, 10.5


class Air:
    """Inlet temperatures as wandering processes around the supply, celsius."""

    def __init__(self, machines: Machines, cooling: Cooling, seed: int) -> None:
        self._random = generator(seed, "air")
        self._cooling, self._machines = cooling, machines
        nodes = len(machines.nodes)
        spread = self._random.normal(0.0, NODE_SPREAD_CELSIUS, nodes)
        self._base = cooling.supply_celsius + spread
        self._room = self._random.normal(0.0, cooling.wander_celsius, len(machines.rooms))
        self._own = self._random.normal(0.0, NODE_WANDER_CELSIUS, nodes)
        self._phase = float(generator(seed, "air.swing").uniform(0, 2 * math.pi))
        self._warm: Floats = np.zeros(len(machines.rooms))
        self._seconds = 0
        half = (machines.width + 1) // 2
        self._rear = np.tile(np.arange(machines.width) >= half, nodes) * REAR_CELSIUS
        self._room_of_node = machines.room_of[machines.rack_of]
        self._sensors = generator(seed, "air.sensors")
        self._returned: Floats = np.zeros(nodes)
        full = machines.of_nodes.power_limit_watts * machines.width
        self._full = full + machines.of_nodes.node_overhead_watts
        self._humid: Floats = np.zeros(len(machines.rooms))
        self._fresh: Floats = np.ones(len(machines.rooms))

    def advance(self, knobs: Knobs) -> None:
        """Go on by one beat."""
        beat = self._machines.beat
        self._seconds += beat
        noise = self._random.normal(size=len(self._room))
        self._room = wander(self._room, self._cooling.wander_celsius, ROOM_SECONDS, noise, beat)
        noise = self._random.normal(size=len(self._own))
        self._own = wander(self._own, NODE_WANDER_CELSIUS, NODE_SECONDS, noise, beat)
        settle(self._warm, knobs.room_kelvin, ROOM_WARMS_SECONDS, beat)
        settle(self._humid, knobs.humid, ROOM_WARMS_SECONDS, beat)
        self._fresh = (knobs.stale == 0).astype(float)

    def _swing(self) -> float:
        turn = 2 * math.pi * self._seconds / self._cooling.swing_seconds
        return self._cooling.swing_celsius * math.sin(turn + self._phase)

    def at_nodes(self) -> Floats:
        """Return the inlet temperature of every node."""
        rooms = self._room + self._warm + self._swing()
        inlet: Floats = self._base + rooms[self._room_of_node] + self._own
        return inlet + self._returned

    def return_heat(self, node_watts: Floats) -> None:
        """Let what the other nodes of a rack blow out come back to a node's inlet, in part."""
        kelvin = self._cooling.recirculation_celsius
        if not kelvin:
            return
        machines, share = self._machines, node_watts / self._full
        others = machines.by_rack(share)[machines.rack_of] - share
        count = np.bincount(machines.rack_of)[machines.rack_of] - 1
        warm = kelvin * others / np.maximum(count, 1)
        settle(self._returned, warm, RETURNS_SECONDS, machines.beat)

    def at_gpus(self) -> Floats:
        """Return the temperature of the air at every GPU's heat sink."""
        return self._machines.spread(self.at_nodes()) + self._rear

    def readings(self, node_watts: Floats) -> dict[str, Floats]:
        """Return what the building's sensors in racks and rooms show."""
        machines, rooms = self._machines, len(self._room)
        count = np.bincount(machines.rack_of)
        inlet = machines.by_rack(self.at_nodes()) / count
        racks = machines.by_rack(node_watts)
        watts = np.bincount(machines.room_of, racks, rooms)
        noise = self._sensors.normal(size=(2, max(len(inlet), rooms)))
        room = self._cooling.supply_celsius + self._room + self._warm + self._swing()
        humidity = HUMIDITY_RATIO * np.exp(-0.06 * (room - self._cooling.supply_celsius))
        return {
            "rack_inlet_temperature_celsius": inlet + 0.1 * noise[0, : len(inlet)],
            "facility_room_temperature_celsius": np.round(room + 0.05 * noise[1, :rooms], 1),
            "facility_relative_humidity_ratio": np.round(humidity + self._humid, 3),
            "facility_dew_point_celsius": DEW_POINT_CELSIUS + 0.05 * noise[0, :rooms],
            "facility_it_power_watts": np.round(watts, -2),
            "facility_data_quality": self._fresh,
        }
