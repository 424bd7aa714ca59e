"""What is explained by what: the table of the family context, and what its rows leave out."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Clock event reasons that mean heat or brake, not work: software and hardware thermal slowdown,
# hardware slowdown, power brake (NVML's bits).
SLOWED = 0x8 | 0x20 | 0x40 | 0x80
SATURATED_RATIO = 0.98  # a fan this near its maximum can do no more


class Explained(NamedTuple):
    """One explained signal.

    `load` explains it, in units of `load_unit` (keeps the normal equations well conditioned);
    beyond `load_most` it is no load but a changed unit: nothing is judged by it or learned from it.
    `side` is the bad one: 1 above, -1 below, 0 both. `floor` is the change worth telling and
    `least` the smallest scale, in the signal's unit or, where `relative`, of the expected level.
    """

    load: str
    load_unit: float
    load_most: float
    side: int
    floor: float
    least: float  # a sensor of whole degrees or percents has no smaller noise
    relative: bool = False
    end: float = np.inf  # the level beyond which it cannot go: there it is never too low
    rest: float = 0.0  # below this share of its mean load it may be at its lowest: no verdict


# Floors: 4 K is above sensors' disagreement and below what costs a clock step (+18 % of a GPU's
# thermal resistance are 6 K under load). Fans follow power, air and the hottest device in a curve
# with bends: on the first warm afternoon they are up to a seventh above what was learned. Where
# little is drawn they turn at their lowest speed, which no coefficient of load knows.
# Loads: no accelerator draws 5 kW, no node that is one machine 500 kW.
EXPLAINED: dict[str, Explained] = {
    "gpu_temperature_celsius": Explained("gpu_power_watts", 100.0, 5e3, 1, 4.0, 0.4),
    "gpu_temperature_margin_celsius": Explained("gpu_power_watts", 100.0, 5e3, -1, 4.0, 0.4),
    "gpu_memory_temperature_celsius": Explained("gpu_power_watts", 100.0, 5e3, 1, 4.0, 0.4),
    "node_fan_speed_ratio": Explained(
        "node_power_watts", 1000.0, 5e5, 0, 0.20, 0.01, end=SATURATED_RATIO, rest=0.7
    ),
    "node_fan_speed_rpm": Explained(
        "node_power_watts", 1000.0, 5e5, 0, 0.25, 0.012, relative=True, rest=0.7
    ),
}
# Where the air or the coolant around a device is read: signal, at the entity or a parent of it.
AROUND = (
    "node_inlet_temperature_celsius",
    "rack_inlet_temperature_celsius",
    "facility_coolant_supply_temperature_celsius",
)
FAN, REASONS = "node_fan_speed_ratio", "gpu_clock_event_reasons"


def saturated(fan: NDArray[np.float32], reasons: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Say where cooling or clocks are at their end: then temperature follows another law.

    `fan` is a share of the maximum, `reasons` a bit mask; NaN is not read, and not saturated.
    """
    bits = np.nan_to_num(reasons).astype(np.int64)
    at_end: NDArray[np.bool_] = (fan >= SATURATED_RATIO) | ((bits & SLOWED) != 0)
    return at_end
