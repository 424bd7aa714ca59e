"""History of eight GPUs as a table: what a store of metrics would hand over, whole or spoilt."""

import numpy as np
import pandas as pd

T0, MINUTES = 1_767_225_600, 600
GPUS = [f"node/n{number}/gpu/0000:1b:00.0" for number in range(8)]
CORE, POWER, INLET = (
    "gpu_temperature_celsius",
    "gpu_power_watts",
    "node_inlet_temperature_celsius",
)
KELVIN_PER_100_WATTS = 6.0


def history(minutes: int = MINUTES, seed: int = 1) -> pd.DataFrame:
    """Return readings once a minute: load that changes each half hour, heat that follows."""
    random, index = np.random.default_rng(seed), np.arange(minutes)
    time, parts = T0 + 60 * index, []
    for number, gpu in enumerate(GPUS):
        watts = np.repeat(random.choice([80.0, 350.0, 620.0], minutes // 30 + 1), 30)[:minutes]
        watts = watts * (1 + 0.01 * random.normal(size=minutes))
        made = 1 + 0.05 * (number / 7 - 0.5)
        core = 25 + number % 3 + KELVIN_PER_100_WATTS * made * watts / 100
        core = np.round(core + 0.3 * random.normal(size=minutes))
        for name, values in ((CORE, core), (POWER, watts)):
            parts.append(pd.DataFrame({"time": time, "entity": gpu, "signal": name,
                                       "value": values}))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def between(table: pd.DataFrame, first: float, last: float) -> pd.Series:
    """Say which rows lie in a part of the time, from 0 to 1."""
    share = (table["time"] - T0) / (60 * MINUTES)
    return (share >= first) & (share < last)
