"""The air that the machines breathe: a supply that wanders slowly, and each node's own place."""

import numpy as np

from simulator.fleet import Floats, Machines
from simulator.scenario import AirCooling
from simulator.seeds import generator

ROOM_SECONDS, NODE_SECONDS = 900.0, 300.0  # how fast the room's and a node's air wander
NODE_SPREAD_CELSIUS, NODE_WANDER_CELSIUS = 0.6, 0.1
# In a tray of two rows the rear one breathes what the front one has warmed.
REAR_CELSIUS = 5.0


class Air:
    """Inlet temperatures as Ornstein-Uhlenbeck processes around the supply, celsius."""

    def __init__(self, machines: Machines, cooling: AirCooling, seed: int) -> None:
        self._random = generator(seed, "air")
        self._wander = cooling.wander_celsius
        nodes = len(machines.nodes)
        spread = self._random.normal(0.0, NODE_SPREAD_CELSIUS, nodes)
        self._base = cooling.supply_celsius + spread
        self._room = self._random.normal(0.0, self._wander, 1)
        self._own = self._random.normal(0.0, NODE_WANDER_CELSIUS, nodes)
        half = (machines.width + 1) // 2
        self._rear = np.tile(np.arange(machines.width) >= half, nodes) * REAR_CELSIUS
        self._machines = machines

    def advance(self) -> None:
        """Go on by one second."""
        self._room = _wander(self._room, self._wander, ROOM_SECONDS, self._random.normal(size=1))
        noise = self._random.normal(size=len(self._own))
        self._own = _wander(self._own, NODE_WANDER_CELSIUS, NODE_SECONDS, noise)

    def at_nodes(self) -> Floats:
        """Return the inlet temperature of every node."""
        inlet: Floats = self._base + self._room + self._own
        return inlet

    def at_gpus(self) -> Floats:
        """Return the temperature of the air at every GPU's heat sink."""
        return self._machines.spread(self.at_nodes()) + self._rear


def _wander(value: Floats, sigma: float, seconds: float, noise: Floats) -> Floats:
    """Return the next second of an Ornstein-Uhlenbeck process of spread `sigma`."""
    keep = np.exp(-1.0 / seconds)
    following: Floats = value * keep + sigma * np.sqrt(1.0 - keep**2) * noise
    return following
