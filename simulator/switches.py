"""Leaf switches: one a rack, a port for every port of its nodes, uplinks behind them."""

import numpy as np

from simulator.fleet import UPLINKS, Bools, Floats, Indices, Machines
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.nic import PAUSES_PER_SECOND
from simulator.seeds import generator
from simulator.wander import settle

MEAN_SECONDS = 10.0  # over which a switch shows utilisation
UPLINK_BYTES_PER_SECOND = 100e9
CROSSING_SHARE = 0.7  # of the nodes' traffic that leaves the rack
SYMBOL_ERRORS_PER_SECOND = 1 / 7200
BUFFER_BYTES, BUFFER_IDLE_SHARE = 64e6, 0.004
FULL_RATIO = 0.97  # what an overloaded uplink shows
DISCARDS_PER_SECOND = 20.0  # of an uplink asked for twice its capacity
SWITCH_CELSIUS, WARMS_SECONDS = 46.0, 30.0


class Switches:
    """All leaf switches; ports are the nodes' in the order of `Machines.ports`, then uplinks."""

    def __init__(self, machines: Machines, seed: int) -> None:
        self._machines, racks = machines, len(machines.racks)
        made = generator(seed, "switch.made")
        self._noise = generator(seed, "switch.noise")
        self._errors = generator(seed, "switch.errors")
        self._rack_of_port: Indices = np.repeat(machines.rack_of, machines.width)
        of_uplink: Indices = np.repeat(np.arange(racks), UPLINKS)
        self._rack_of: Indices = np.concatenate([self._rack_of_port, of_uplink])
        self._is_uplink = np.arange(len(self._rack_of)) >= len(self._rack_of_port)
        uplinks = np.full(racks * UPLINKS, UPLINK_BYTES_PER_SECOND)
        self._capacity: Floats = np.concatenate([machines.of_gpus.port_bytes_per_second, uplinks])
        count = len(self._rack_of)
        self._rx: Floats = np.floor(made.uniform(1e13, 1e16, count))
        self._tx: Floats = np.floor(made.uniform(1e13, 1e16, count))
        self._discards: Floats = np.zeros(count)
        self._symbols: Floats = made.poisson(10, count).astype(float)
        self._waits: Floats = np.floor(made.uniform(0, 1e6, count))
        self._mean: Floats = np.zeros(count)
        self._warm: Floats = np.zeros(racks)
        self._celsius = SWITCH_CELSIUS + made.normal(0, 1.5, racks)
        self.down: Bools = np.zeros(racks, dtype=bool)
        self._congestion: Floats = np.zeros(racks)
        self._credits: Floats = np.zeros(racks)
        self._rare = generator(seed, "switch.rare")
        self._pauses: Floats = np.zeros(count)

    def entities(self) -> list[str]:
        """Return the ports, in order."""
        machines = self._machines
        own = [machines.switch_port(port) for port in range(len(machines.ports))]
        first = machines.switch_ports + 1
        uplinks = range(first, first + UPLINKS)
        return own + [f"switch/{s}/port/{n}" for s in machines.switches for n in uplinks]

    def advance(self, load: Load, knobs: Knobs) -> None:
        """Go on by one beat."""
        self.down = knobs.switch_down > 0
        self._congestion = knobs.congestion.copy()
        beat = self._machines.beat
        settle(self._warm, knobs.switch_kelvin, WARMS_SECONDS, beat)
        rate = self._traffic(load.network)
        moved = np.floor(beat * rate * self._noise.normal(1.0, 0.01, len(rate)).clip(0))
        self._rx += moved
        self._tx += moved
        settle(self._mean, rate, MEAN_SECONDS, beat)
        self._symbols += self._errors.poisson(beat * SYMBOL_ERRORS_PER_SECOND, len(rate))
        over = self._congestion[self._rack_of] * self._is_uplink
        self._discards += self._errors.poisson(beat * DISCARDS_PER_SECOND * over)
        self._credits = knobs.credits.copy()
        crowd = 1.0 + 4.0 * over + self._credits[self._rack_of]
        self._waits += np.floor(beat * 2e4 * rate / self._capacity * crowd)
        self._discards += self._rare.poisson(beat * knobs.dropped[self._rack_of] * self._is_uplink)
        self._pauses += self._rare.poisson(beat * self._paused(knobs, rate))

    def _paused(self, knobs: Knobs, rate: Floats) -> Floats:
        """Return pause frames that each port receives, per second."""
        uplinks = np.zeros(len(rate) - len(self._rack_of_port))
        storm = knobs.storm[self._rack_of] * ~self._is_uplink
        paused: Floats = np.concatenate([knobs.pausing, uplinks]) + storm
        return paused + PAUSES_PER_SECOND * (rate > 0)

    def _traffic(self, network: Floats) -> Floats:
        racks = np.bincount(self._rack_of_port, network, len(self.down))
        uplink = np.repeat(CROSSING_SHARE * racks / UPLINKS, UPLINKS)
        rate = np.minimum(np.concatenate([network, uplink]), self._capacity)
        crowded = (self._congestion[self._rack_of] > 0) & self._is_uplink
        rate = np.where(crowded, np.maximum(rate, FULL_RATIO * self._capacity), rate)
        return np.where(self.down[self._rack_of], 0.0, rate)

    def readings(self) -> dict[str, Floats]:
        """Return what the fabric's manager reads; of a switch that is down only that it is."""
        noise = self._noise.normal(size=(2, len(self._rx)))
        share = np.minimum(self._mean / self._capacity, 1.0)
        over = self._congestion[self._rack_of] * self._is_uplink
        fill = BUFFER_IDLE_SHARE + 0.02 * share + 0.6 * np.minimum(over, 1.0)
        ports = {
            "switch_port_utilization_ratio": (share * (1 + 0.005 * noise[0])).clip(0, 1),
            "switch_port_rx_bytes_total": self._rx,
            "switch_port_tx_bytes_total": self._tx,
            "switch_port_discards_total": self._discards,
            "switch_port_symbol_errors_total": self._symbols,
            "switch_port_tx_wait_ticks_total": self._waits,
            "switch_port_buffer_watermark_bytes": BUFFER_BYTES * fill * np.exp(0.1 * noise[1]),
            "switch_port_pfc_rx_pause_frames_total": self._pauses,
        }
        silent = self.down[self._rack_of]
        warm = self._celsius + self._warm + 0.3 * noise[0, : len(self.down)]
        return {
            **{name: np.where(silent, np.nan, own) for name, own in ports.items()},
            "switch_up": (~self.down).astype(float),
            "switch_temperature_celsius": np.where(self.down, np.nan, np.round(warm)),
        }
