"""Accelerators: power from load, temperature from power, clocks from both; all GPUs at once.

Power is idle + leakage + switching, the last going with clock^2.2 (frequency times voltage
squared, voltage rising with about half of it); leakage grows exponentially with temperature. Heat
flows through silicon, paste and heat sink in series, each first-order: C dT/dt = P - T/R, with heat
capacities C that stay when R rises, so a bad interface is hotter and slower.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.fleet import Floats, Machines
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.seeds import generator
from simulator.wander import settle

IDLE, POWER_CAP, HW_SLOWDOWN, HW_THERMAL, HW_BRAKE = 0x1, 0x4, 0x8, 0x40, 0x80  # NVML bits
POWER_EXPONENT = 2.2
CLOCK_STEP_HERTZ = 15e6
# Spread between devices of one model, relative (offset: celsius).
POWER_SPREAD, PASTE_SPREAD, SINK_SPREAD, SPEED_SPREAD = 0.02, 0.08, 0.03, 0.003
LEAKAGE_SPREAD = 0.25  # of its logarithm: what makers sort chips by
LEAKAGE_DOUBLING_KELVIN = 30.0  # subthreshold current of silicon: twice in 25 to 35 K
SENSOR_OFFSET_CELSIUS, SENSOR_NOISE_CELSIUS, SENSOR_NOISE_WATTS = 0.7, 0.2, 1.5
POWER_JITTER = 0.01  # second to second, relative to the switching power
# Memory sits beside the core under the same plate: warmer at rest (AcmeTrace medians 40 and 51 C),
# level with it under load (99th percentiles 66 and 67 C on A100; stacked HBM3 runs warmer).
MEMORY_SHARE, MEMORY_OFFSET_CELSIUS = 0.80, 17.0
# Background of healthy devices, mean over them.
ECC_PER_SECOND, REPLAYS_PER_SECOND, CRC_PER_SECOND = 1 / 14_400, 1 / 28_800, 1 / 28_800
RECOVERIES_PER_CRC = 1 / 60  # a scale-up link retrains once in so many errors
FULL_WIDTH = 16
BRAKE_CLOCK_RATIO = 0.5
# A scale-up link that resends loses this share of its throughput per error and second.
RESEND_SHARE, RESEND_MOST = 0.01, 0.25
SCALE_UP_SHARE = 0.5  # of an exchange that goes over scale-up links


class Gpus:
    """State of all GPUs; arrays are in the order of `Machines.gpus`."""

    def __init__(self, machines: Machines, inlet: Floats, seed: int) -> None:
        self._machines, self.hardware = machines, machines.of_gpus
        made = generator(seed, "gpu.made")
        count = len(machines.gpus)
        self._power = made.normal(1.0, POWER_SPREAD, count).clip(0.93, 1.07)
        self._paste = made.normal(1.0, PASTE_SPREAD, count).clip(0.85, 1.15)
        self._sink = made.normal(1.0, SINK_SPREAD, count).clip(0.9, 1.1)
        self._offset = made.normal(0.0, SENSOR_OFFSET_CELSIUS, count)
        self.speed_made: Floats = made.normal(1.0, SPEED_SPREAD, count)
        self._ecc_rate = made.gamma(0.5, 2.0 * ECC_PER_SECOND, count)
        leaky = generator(seed, "gpu.leakage").lognormal(0.0, LEAKAGE_SPREAD, count)
        self._leakage: Floats = self.hardware.leakage_watts * leaky
        self._noise = generator(seed, "gpu.noise")
        self._renewed = generator(seed, "gpu.renewed")
        self._errors = generator(seed, "gpu.errors")
        self.watts: Floats = self._power * self.hardware.idle_watts
        hw = self.hardware
        self._over_paste: Floats = hw.paste_kelvin_per_watt * self._paste * self.watts  # kelvin
        self._over_base: Floats = hw.base_kelvin_per_watt * self._sink * self.watts
        self._over_sink: Floats = hw.sink_kelvin_per_watt * self._sink * self.watts
        self.celsius: Floats = inlet + self._over_paste + self._over_base + self._over_sink
        self._too_hot: NDArray[np.bool_] = np.zeros(count, dtype=bool)
        self.slowed = self._too_hot.copy()  # clocks held down in this second
        self.capped: Floats = np.zeros(count)
        self.clock: Floats = np.ones(count)  # share of the training clock
        self._start_counters(made, count)

    def _start_counters(self, made: np.random.Generator, count: int) -> None:
        self.energy: Floats = made.uniform(1e8, 2e9, count)
        self.capped_seconds: Floats = made.uniform(0, 500, count)
        self.slowed_seconds: Floats = np.zeros(count)
        self.ecc: Floats = made.poisson(self._ecc_rate * 86_400).astype(float)
        self.replays: Floats = made.poisson(0.5, count).astype(float)
        self._remapped: Floats = made.binomial(1, 0.02, count).astype(float)
        self.braked: NDArray[np.bool_] = np.zeros(count, dtype=bool)
        self.lost = self.braked.copy()
        self.braked_seconds: Floats = np.zeros(count)
        self.uncorrected: Floats = np.zeros(count)
        self.pending: Floats = np.zeros(count)
        self.crc: Floats = made.poisson(0.3, count).astype(float)
        self.recoveries: Floats = np.zeros(count)
        self.width: Floats = np.full(count, float(FULL_WIDTH))
        self._resending: Floats = np.zeros(count)
        self._links_made = self.hardware.scale_up_links
        self._links: Floats = self._links_made.copy()
        self._limit: Floats = self.hardware.power_limit_watts
        self._memory_kelvin: Floats = np.zeros(count)
        self._frozen: NDArray[np.bool_] = np.zeros(count, dtype=bool)
        self._shown: Floats = np.round(self.celsius)
        self._rows: Floats = np.zeros(count)
        self._spent: Floats = np.zeros(count)
        self._fatal: Floats = np.zeros(count)

    def reload_driver(self, where: slice) -> None:
        """Begin the volatile counters anew, as a driver reload or a reboot does."""
        counters = (self.energy, self.capped_seconds, self.slowed_seconds, self.ecc, self.replays)
        others = (self.braked_seconds, self.uncorrected, self.pending, self.crc, self.recoveries)
        for counter in (*counters, *others, self._fatal):
            counter[where] = 0.0

    def replace_sensors(self, where: slice) -> None:
        """Give GPUs other sensors: their offsets are others."""
        count = where.stop - where.start
        self._offset[where] = self._renewed.normal(0.0, SENSOR_OFFSET_CELSIUS, count)

    def replace(self, where: slice) -> None:
        """Put other devices of the same model in."""
        self.replace_sensors(where)
        count = where.stop - where.start
        spreads = (POWER_SPREAD, PASTE_SPREAD, SINK_SPREAD, SPEED_SPREAD)
        own = (self._power, self._paste, self._sink, self.speed_made)
        for made, spread in zip(own, spreads, strict=True):
            made[where] = self._renewed.normal(1.0, spread, count).clip(0.85, 1.15)
        self._ecc_rate[where] = self._renewed.gamma(0.5, 2.0 * ECC_PER_SECOND, count)
        leaky = self._renewed.lognormal(0.0, LEAKAGE_SPREAD, count)
        self._leakage[where] = self.hardware.leakage_watts[where] * leaky
        self._remapped[where] = 0.0

    def speed(self) -> Floats:
        """Return how fast each GPU computes, 1 for a nominal one at its training clock."""
        return self.speed_made * self.clock

    def exchange(self) -> Floats:
        """Return by what factor an exchange takes longer: narrow PCIe, links that resend or lack.

        A network port sends from device memory over PCIe, so half the lanes are half the rate.
        """
        factor: Floats = FULL_WIDTH / self.width / (1.0 - self._resending)
        lacking = 1.0 - self._links / self._links_made
        return factor / (1.0 - SCALE_UP_SHARE * lacking)

    def advance(
        self,
        load: Load,
        around: Floats,
        knobs: Knobs,
        plate: Floats | float = 1.0,
        braked: NDArray[np.bool_] | None = None,
    ) -> None:
        """Go on by one beat under `load`, with air or coolant of `around` celsius.

        `plate` is a factor on the resistance to the coolant or to the fans' air, `braked` says
        whose rack's supplies hold the power brake.
        """
        if braked is not None:
            self.braked = braked
        self._limit = self.hardware.power_limit_watts * (1.0 - knobs.limit_cut)
        self._heat(self._draw_power(load, knobs), around, plate, knobs)
        self._watch_limit()
        self._break(knobs)
        self._count(knobs)

    def _draw_power(self, load: Load, knobs: Knobs) -> Floats:
        hw = self.hardware
        jitter = self._noise.normal(1.0, POWER_JITTER, len(self.watts))
        switching = hw.dynamic_watts * self._power * load.power * jitter
        still = hw.idle_watts * self._power
        still += hw.awake_watts * load.allocated
        still += self._leakage * (np.exp2((self.celsius - 40.0) / LEAKAGE_DOUBLING_KELVIN) - 1.0)
        self.slowed = self._too_hot.copy()
        wanted = np.where(self.slowed, hw.slowdown_clock_ratio, 1.0)
        wanted = np.where(self.braked, np.minimum(wanted, BRAKE_CLOCK_RATIO), wanted)
        wanted = np.minimum(wanted, 1.0 - knobs.clock_held)
        room = (self._limit - still) / np.maximum(switching, 1.0)
        allowed = np.minimum(wanted, room ** (1 / POWER_EXPONENT))
        self.capped = (allowed < wanted - 1e-9).astype(float)
        self.clock = allowed
        watts: Floats = still + switching * allowed**POWER_EXPONENT
        return watts

    def _heat(self, watts: Floats, around: Floats, plate: Floats | float, knobs: Knobs) -> None:
        hw, beat = self.hardware, self._machines.beat
        self.watts = watts
        paste = hw.paste_kelvin_per_watt * self._paste * knobs.paste
        base, sink = (r * self._sink for r in (hw.base_kelvin_per_watt, hw.sink_kelvin_per_watt))
        settle(self._over_paste, paste * watts, hw.paste_seconds * knobs.paste, beat)
        settle(self._over_base, base * watts, hw.base_seconds, beat)
        settle(self._over_sink, sink * plate * watts, hw.sink_seconds * plate, beat)
        over = self._over_paste + self._over_base + self._over_sink
        self.celsius = around + hw.silicon_kelvin_per_watt * watts + over

    def _watch_limit(self) -> None:
        """Engage below the slowdown margin, release above another: the hardware's hysteresis."""
        margin = self.hardware.limit_celsius - self.celsius
        self._too_hot |= margin <= self.hardware.slowdown_margin_celsius
        self._too_hot &= margin < self.hardware.release_margin_celsius

    def _break(self, knobs: Knobs) -> None:
        """Take over what broke: lost devices, lanes, memory rows, links."""
        self.lost = knobs.lost > 0
        self.width = FULL_WIDTH / 2.0**knobs.lanes_halved
        self.uncorrected += knobs.poisoned
        self.pending = np.maximum(self.pending, knobs.poisoned)
        self.pending = np.maximum(self.pending, knobs.pending)
        self._resending = np.minimum(RESEND_SHARE * knobs.crc, RESEND_MOST)
        self._links = np.maximum(self._links_made - np.round(knobs.links_lost), 0.0)
        self._memory_kelvin, self._frozen = knobs.memory_kelvin.copy(), knobs.frozen > 0
        self._rows, self._spent = np.floor(knobs.remapped), (knobs.remap_failed > 0).astype(float)
        self._fatal += knobs.fatal_links

    def _count(self, knobs: Knobs) -> None:
        beat = self._machines.beat
        self.energy += beat * self.watts
        self.capped_seconds += beat * self.capped
        self.slowed_seconds += beat * self.slowed
        self.braked_seconds += beat * self.braked
        self.ecc += self._errors.poisson(beat * (self._ecc_rate + knobs.ecc))
        self.replays += self._errors.poisson(beat * (REPLAYS_PER_SECOND + knobs.replays))
        errors = self._errors.poisson(beat * (CRC_PER_SECOND + knobs.crc))
        self.crc += errors
        self.recoveries += self._errors.binomial(errors, RECOVERIES_PER_CRC)

    def readings(self, load: Load) -> dict[str, Floats]:
        """Return what the driver reports, in catalogue units, at the sensors' resolution."""
        hw, ones = self.hardware, np.ones(len(self.watts))
        noise = self._noise.normal(size=(6, len(ones)))
        core = np.round(self.celsius + self._offset + SENSOR_NOISE_CELSIUS * noise[0])
        core = self._shown = np.where(self._frozen, self._shown, core)
        memory = MEMORY_SHARE * self.celsius + MEMORY_OFFSET_CELSIUS + 0.3 * noise[1]
        memory += self._memory_kelvin
        used = hw.memory_bytes * (0.008 + load.memory_used)
        return {
            "gpu_utilization_ratio": _percent(load.busy + 0.004 * noise[2] * load.allocated),
            "gpu_memory_controller_busy_ratio": _percent(load.memory * (1 + 0.02 * noise[3])),
            "gpu_tensor_active_ratio": (load.tensor * (1 + 0.01 * noise[4])).clip(0, 1),
            "gpu_temperature_celsius": core,
            "gpu_temperature_margin_celsius": hw.limit_celsius - core,
            "gpu_memory_temperature_celsius": np.round(memory),
            "gpu_power_watts": np.round(self.watts + SENSOR_NOISE_WATTS * noise[5], 3),
            "gpu_core_clock_hertz": self._clock(load, noise[2]),
            "gpu_clock_event_reasons": self._reasons(load),
            "gpu_pcie_tx_bytes_per_second": 2e5 + load.pcie * (1 + 0.02 * noise[3]),
            "gpu_pcie_rx_bytes_per_second": 3e5 + load.pcie * (1 + 0.02 * noise[4]),
            "scale_up_tx_bytes_per_second": np.abs(load.scale_up * (1 + 0.01 * noise[1])),
            "gpu_memory_used_bytes": np.round(used / 2**20) * 2**20,
            "gpu_energy_joules_total": np.round(self.energy, 3),
            "gpu_memory_clock_hertz": hw.memory_clock_hertz,
            "gpu_throttle_power_seconds_total": self.capped_seconds,
            "gpu_throttle_thermal_seconds_total": self.slowed_seconds,
            "gpu_ecc_corrected_errors_total": self.ecc,
            "gpu_ecc_uncorrected_errors_total": self.uncorrected,
            "gpu_pcie_replays_total": self.replays,
            "gpu_pcie_link_width": self.width,
            "gpu_pcie_link_width_max": FULL_WIDTH * ones,
            "gpu_throttle_power_brake_seconds_total": self.braked_seconds,
            "scale_up_crc_errors_total": self.crc,
            "scale_up_replays_total": self.crc,
            "scale_up_recoveries_total": self.recoveries,
            "gpu_temperature_limit_celsius": hw.limit_celsius,
            "gpu_power_limit_watts": self._limit,
            "gpu_row_remap_corrected_rows_total": self._remapped,
            "gpu_row_remap_pending": self.pending,
            "gpu_row_remap_uncorrected_rows_total": self._rows,
            "gpu_row_remap_failed": self._spent,
            "scale_up_links_up": self._links,
            "scale_up_links_expected": self._links_made,
            "scale_up_fatal_errors_total": self._fatal,
        }

    def _clock(self, load: Load, noise: Floats) -> Floats:
        hw = self.hardware
        working = np.where(load.power > 0.3, hw.clock_train_hertz * self.clock, hw.clock_max_hertz)
        hertz = np.where(load.allocated, working + 5e6 * noise, hw.clock_idle_hertz)
        steps: Floats = np.round(hertz / CLOCK_STEP_HERTZ) * CLOCK_STEP_HERTZ
        return steps

    def _reasons(self, load: Load) -> Floats:
        bits = np.where(load.allocated, 0, IDLE) + POWER_CAP * (self.capped > 0)
        bits += HW_SLOWDOWN * (self.slowed | self.braked) + HW_BRAKE * self.braked
        reasons: Floats = (bits + HW_THERMAL * self.slowed).astype(float)
        return reasons


def _percent(share: Floats) -> Floats:
    """Return a share as a counter of whole percents shows it."""
    whole: Floats = np.round(share.clip(0, 1), 2)
    return whole
