"""The figures of the simulated hardware, each with where it comes from."""

import msgspec
from msgspec.structs import replace


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """One model of node: an accelerator of it and the thermal path to the air.

    Thermal resistances are kelvin per watt, in series: silicon, paste (the interface that ages),
    base and fins of the heat sink, the last three with the time constant that each has when
    healthy. `leakage_watts` is the part of the idle power, at 40 celsius, that grows with heat.
    Clocks in hertz, power in watts, memory and rates in bytes.
    """

    model: str
    node_model: str
    vendor: str
    driver: str
    idle_watts: float
    dynamic_watts: float
    power_limit_watts: float
    leakage_watts: float
    silicon_kelvin_per_watt: float
    paste_kelvin_per_watt: float
    base_kelvin_per_watt: float
    sink_kelvin_per_watt: float
    paste_seconds: float
    base_seconds: float
    sink_seconds: float
    limit_celsius: float
    slowdown_margin_celsius: float
    release_margin_celsius: float
    slowdown_clock_ratio: float
    clock_max_hertz: float
    clock_train_hertz: float
    clock_idle_hertz: float
    memory_clock_hertz: float
    memory_bytes: float
    peak_flops_per_second: float
    port_bytes_per_second: float
    scale_up_bytes_per_second: float
    node_overhead_watts: float
    node_memory_bytes: float
    pci: tuple[str, ...]


# Power: idle 60 W at the first percentile, 101 W median and 440 W at the 99th on A100 (AcmeTrace,
# CC BY 4.0); an H100 SXM has a 700 W limit where the A100 has 400 W. Thermal: an A100's core is at
# 66 C at the 99th percentile of load, 22 C at the first, so about 0.1 K/W; the H100 dissipates more
# through a larger sink. Its time constants: seconds in the die, 40 s and 150 s in the sink. H100
# hardware slows down at a margin of -2 C (NVIDIA DCGM). Peak: dense bf16. Servers: 522 W without
# and 1.4 to 6.5 kW with eight A100 (AcmeTrace).
HARDWARE: dict[str, Hardware] = {
    "h100-sxm": Hardware(
        model="NVIDIA H100 80GB HBM3",
        node_model="8xH100-SXM5 air",
        vendor="nvidia",
        driver="570.172.08",
        idle_watts=72.0,
        dynamic_watts=585.0,
        power_limit_watts=700.0,
        leakage_watts=15.0,
        silicon_kelvin_per_watt=0.005,
        paste_kelvin_per_watt=0.014,
        base_kelvin_per_watt=0.021,
        sink_kelvin_per_watt=0.020,
        paste_seconds=4.0,
        base_seconds=40.0,
        sink_seconds=150.0,
        limit_celsius=87.0,
        slowdown_margin_celsius=-2.0,
        release_margin_celsius=3.0,
        slowdown_clock_ratio=0.55,
        clock_max_hertz=1.98e9,
        clock_train_hertz=1.755e9,
        clock_idle_hertz=3.45e8,
        memory_clock_hertz=2.619e9,
        memory_bytes=85_520_809_984.0,
        peak_flops_per_second=989e12,
        port_bytes_per_second=50e9,
        scale_up_bytes_per_second=450e9,
        node_overhead_watts=900.0,
        node_memory_bytes=2.1e12,
        pci=(
            "0000:1b:00.0", "0000:43:00.0", "0000:52:00.0", "0000:61:00.0",
            "0000:9d:00.0", "0000:c3:00.0", "0000:d1:00.0", "0000:df:00.0",
        ),
    ),
}  # fmt: skip
# The same parts under cold plates: less resistance to the coolant than to air, and quicker; a
# direct-to-chip H100 runs some 15 K cooler than in air at the same power.
LIQUID: dict[str, Hardware] = {
    name: replace(
        own,
        node_model=own.node_model.replace("air", "liquid"),
        base_kelvin_per_watt=0.012,
        sink_kelvin_per_watt=0.014,
        base_seconds=12.0,
        sink_seconds=45.0,
        node_overhead_watts=700.0,
    )
    for name, own in HARDWARE.items()
}
