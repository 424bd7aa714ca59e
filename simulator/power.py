"""Power: feeds, the supply units of each rack, and the brake that they pull when overloaded."""

import math

import numpy as np

from simulator.fleet import Bools, Floats, Machines
from simulator.knobs import Knobs
from simulator.seeds import generator

SUPPLY_WATTS = 5500.0  # as in NVIDIA's GB200 reference rack
HEADROOM_RATIO = 1.08  # the working units carry this times the largest draw; one more is spare
FEED_VOLTS, FEED_NOISE, POWER_FACTOR = 415.0, 0.004, 0.98
FEED_HEADROOM_RATIO = 1.5


def largest_watts(machines: Machines) -> Floats:
    """Return the largest draw of each rack."""
    own = machines.of_nodes
    node = own.power_limit_watts * machines.width + 1.3 * own.node_overhead_watts
    return machines.most_by_rack(node)


def supplies(machines: Machines) -> Floats:
    """Return how many supply units each rack has: one more than it needs."""
    needed: Floats = np.ceil(HEADROOM_RATIO * largest_watts(machines) / SUPPLY_WATTS)
    return needed + 1.0


class Power:
    """All racks and feeds."""

    def __init__(self, machines: Machines, seed: int) -> None:
        self._machines = machines
        self._noise = generator(seed, "power.noise")
        most = largest_watts(machines)
        self.supplies: Floats = supplies(machines)
        self._limit = self.supplies * SUPPLY_WATTS
        feeds = np.bincount(machines.feed_of, most, len(machines.feeds))
        self._rated = feeds * FEED_HEADROOM_RATIO / (FEED_VOLTS * math.sqrt(3) * POWER_FACTOR)
        self.up: Floats = self.supplies.copy()
        self._watts: Floats = np.zeros(len(machines.racks))
        self._braked: Bools = np.zeros(len(machines.racks), dtype=bool)
        self._foreign: Floats = np.zeros(len(machines.feeds))
        self._sag: Floats = self._foreign.copy()

    def braked(self) -> Bools:
        """Return for each GPU whether its rack holds the power brake."""
        by_node = self._braked[self._machines.rack_of]
        return np.repeat(by_node, self._machines.width)

    def advance(self, node_watts: Floats, knobs: Knobs) -> None:
        """Go on by one second: overloaded units pull the brake until all of them are back."""
        self._watts = self._machines.by_rack(node_watts)
        self._foreign, self._sag = knobs.foreign_share.copy(), knobs.sag.copy()
        self.up = np.maximum(self.supplies - knobs.supplies_lost, 1.0)
        overloaded = self._watts > self.up * SUPPLY_WATTS
        self._braked = (self._braked & (self.up < self.supplies)) | overloaded

    def readings(self) -> dict[str, Floats]:
        """Return what shelves and distribution units report."""
        machines, feeds = self._machines, len(self._rated)
        noise = self._noise.normal(size=(2, max(len(self._watts), feeds)))
        own: Floats = np.bincount(machines.feed_of, self._watts, feeds).astype(np.float64)
        volts = FEED_VOLTS * (1 + FEED_NOISE * noise[1, :feeds]) * (1.0 - self._sag)
        others = self._foreign * self._rated * FEED_VOLTS * math.sqrt(3) * POWER_FACTOR
        watts = own + others
        amperes = watts / (volts * math.sqrt(3) * POWER_FACTOR)
        return {
            "rack_power_watts": np.round(self._watts * (1 + 0.003 * noise[0, : len(self._watts)])),
            "rack_power_supplies_up": self.up,
            "rack_power_limit_watts": self._limit,
            "pdu_power_watts": np.round(watts),
            "pdu_current_amperes": np.round(amperes, 2),
            "pdu_current_limit_amperes": np.round(self._rated),
            "pdu_voltage_volts": np.round(volts, 1),
            "pdu_breaker_load_ratio": np.round(amperes / self._rated, 3),
        }
