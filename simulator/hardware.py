"""The figures of the simulated hardware, each with where it comes from."""

import msgspec
from msgspec.structs import replace


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """One model of node: an accelerator of it and the thermal path to the air.

    Thermal resistances are kelvin per watt, in series: silicon, paste (the interface that ages),
    base and fins of the heat sink, the last three with the time constant that each has when
    healthy. `leakage_watts` is the part of the idle power, at 40 celsius, that grows with heat;
    `awake_watts` what a device that a job holds draws more than an idle one, where it is known.
    Clocks in hertz, power in watts, memory and rates in bytes.
    """

    model: str
    node_model: str
    vendor: str
    driver: str
    idle_watts: float
    awake_watts: float
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
    scale_up_links: float
    pcie_bytes_per_second: float
    node_overhead_watts: float
    node_memory_bytes: float
    pci: tuple[str, ...]


# Power: idle 60 W at the first percentile and 440 W at the 99th on A100 (AcmeTrace, CC BY 4.0); an
# H100 SXM has a 700 W limit where the A100 has 400 W. Thermal: an A100's core is at 66 C at the
# 99th percentile of load, 22 C at the first, so about 0.1 K/W; the H100 dissipates more through a
# larger sink. Time constants: seconds in the die, 40 s and 150 s in the sink. Hardware slows down
# at a margin of -2 C (NVIDIA DCGM). Peak: dense bf16. Servers: 522 W without and 1.4 to 6.5 kW with
# eight A100 (AcmeTrace). Clocks, power, memory and links of the others: their data sheets; their
# resistances are those that keep them as warm at their own full load.
H100 = Hardware(
    model="NVIDIA H100 80GB HBM3",
    node_model="8xH100-SXM5 air",
    vendor="nvidia",
    driver="570.172.08",
    idle_watts=72.0,
    awake_watts=0.0,
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
    scale_up_links=18.0,
    pcie_bytes_per_second=64e9,
    node_overhead_watts=900.0,
    node_memory_bytes=2.1e12,
    pci=(
        "0000:1b:00.0",
        "0000:43:00.0",
        "0000:52:00.0",
        "0000:61:00.0",
        "0000:9d:00.0",
        "0000:c3:00.0",
        "0000:d1:00.0",
        "0000:df:00.0",
    ),
)
H200 = replace(
    H100,
    model="NVIDIA H200",
    node_model="8xH200-SXM5 air",
    idle_watts=76.0,
    dynamic_watts=590.0,
    memory_clock_hertz=3.201e9,
    memory_bytes=150_754_820_096.0,
)
A100 = replace(
    H100,
    model="NVIDIA A100-SXM4-80GB",
    node_model="8xA100-SXM4 air",
    idle_watts=66.0,
    awake_watts=22.0,
    dynamic_watts=330.0,
    power_limit_watts=400.0,
    leakage_watts=9.0,
    silicon_kelvin_per_watt=0.008,
    paste_kelvin_per_watt=0.022,
    base_kelvin_per_watt=0.027,
    sink_kelvin_per_watt=0.029,
    limit_celsius=85.0,
    clock_max_hertz=1.41e9,
    clock_train_hertz=1.365e9,
    clock_idle_hertz=2.1e8,
    memory_clock_hertz=1.593e9,
    memory_bytes=85_899_345_920.0,
    peak_flops_per_second=312e12,
    port_bytes_per_second=25e9,
    scale_up_bytes_per_second=300e9,
    scale_up_links=12.0,
    pcie_bytes_per_second=32e9,
    node_overhead_watts=1450.0,
    node_memory_bytes=1.05e12,
    pci=(
        "0000:07:00.0", "0000:0f:00.0", "0000:47:00.0", "0000:4e:00.0",
        "0000:87:00.0", "0000:90:00.0", "0000:b7:00.0", "0000:bd:00.0",
    ),
)  # fmt: skip
B200 = replace(
    H100,
    model="NVIDIA B200",
    node_model="8xB200-SXM6 air",
    idle_watts=140.0,
    dynamic_watts=790.0,
    power_limit_watts=1000.0,
    leakage_watts=24.0,
    silicon_kelvin_per_watt=0.0035,
    paste_kelvin_per_watt=0.010,
    base_kelvin_per_watt=0.0145,
    sink_kelvin_per_watt=0.0140,
    clock_max_hertz=1.965e9,
    clock_train_hertz=1.845e9,
    clock_idle_hertz=1.2e8,
    memory_clock_hertz=3.996e9,
    memory_bytes=192_265_846_784.0,
    peak_flops_per_second=2250e12,
    scale_up_bytes_per_second=900e9,
    node_overhead_watts=1500.0,
    node_memory_bytes=4.2e12,
    pci=(
        "0000:1b:00.0", "0000:43:00.0", "0000:52:00.0", "0000:61:00.0",
        "0000:9d:00.0", "0000:c3:00.0", "0000:d1:00.0", "0000:df:00.0",
    ),
)  # fmt: skip
HARDWARE: dict[str, Hardware] = {
    "h100-sxm": H100, "h200-sxm": H200, "a100-sxm": A100, "b200-hgx": B200,
}  # fmt: skip
# The same parts under cold plates: less resistance to the coolant than to air, and quicker; a
# direct-to-chip H100 runs some 15 K cooler than in air at the same power.
PLATES: dict[str, dict[str, float]] = {  # resistances of base and sink, watts of the rest
    "h100-sxm": {"base": 0.012, "sink": 0.014, "rest": 700.0},
    "h200-sxm": {"base": 0.012, "sink": 0.014, "rest": 700.0},
    "a100-sxm": {"base": 0.0155, "sink": 0.020, "rest": 1130.0},
    "b200-hgx": {"base": 0.0085, "sink": 0.0098, "rest": 1150.0},
}
LIQUID: dict[str, Hardware] = {
    name: replace(
        own,
        node_model=own.node_model.replace("air", "liquid"),
        base_kelvin_per_watt=PLATES[name]["base"],
        sink_kelvin_per_watt=PLATES[name]["sink"],
        base_seconds=12.0,
        sink_seconds=45.0,
        node_overhead_watts=PLATES[name]["rest"],
    )
    for name, own in HARDWARE.items()
}
