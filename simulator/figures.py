"""The figures of a fleet's hardware as arrays: one value a GPU or a node, each of its own model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.hardware import Hardware

Floats = NDArray[np.float64]


class Figures:
    """All numbers of `Hardware`, in its units, each as an array over GPUs or over nodes."""

    idle_watts: Floats
    awake_watts: Floats
    dynamic_watts: Floats
    power_limit_watts: Floats
    leakage_watts: Floats
    silicon_kelvin_per_watt: Floats
    paste_kelvin_per_watt: Floats
    base_kelvin_per_watt: Floats
    sink_kelvin_per_watt: Floats
    paste_seconds: Floats
    base_seconds: Floats
    sink_seconds: Floats
    limit_celsius: Floats
    slowdown_margin_celsius: Floats
    release_margin_celsius: Floats
    slowdown_clock_ratio: Floats
    clock_max_hertz: Floats
    clock_train_hertz: Floats
    clock_idle_hertz: Floats
    memory_clock_hertz: Floats
    memory_bytes: Floats
    peak_flops_per_second: Floats
    port_bytes_per_second: Floats
    scale_up_bytes_per_second: Floats
    scale_up_links: Floats
    pcie_bytes_per_second: Floats
    node_overhead_watts: Floats
    node_memory_bytes: Floats

    def __init__(self, models: Sequence[Hardware], each: int = 1) -> None:
        for name, kind in Hardware.__annotations__.items():
            if kind is float:
                own = np.array([getattr(model, name) for model in models], dtype=np.float64)
                setattr(self, name, np.repeat(own, each))
