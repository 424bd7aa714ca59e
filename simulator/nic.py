"""Network ports: bytes in step with the job, errors now and then, optics; all ports at once.

The classic InfiniBand counters are narrow: they stop at the catalogue's `saturates_at`.
"""

import numpy as np

from forewarn.catalogue import CATALOGUE
from simulator.fleet import Bools, Floats, Machines
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.seeds import generator

SYMBOL_ERRORS_PER_SECOND = 1 / 7200  # background of a healthy port
RX_ERROR_SHARE = 0.05  # of the symbol errors, those that spoil a packet
RECOVERIES_PER_SYMBOL_ERROR = 1 / 1500  # the link retrains once in so many
RECOVERY_STALL_SECONDS = 0.25
RETRANSMIT_SHARE, RETRANSMIT_MOST = 5e-4, 0.06  # throughput lost, per symbol error a second
IDLE_BYTES_PER_SECOND = 2e4
# Congestion marks of a healthy fabric, and those of one whose uplinks are asked for twice their
# capacity, packets per second.
MARKS_PER_SECOND, MARKS_CONGESTED_PER_SECOND = 6.0, 4000.0
FULL_WIDTH = 16
CREDIT_SHARE = 0.3  # an exchange takes longer by so much, per unit of waiting for credits
# A pause frame of 802.1Qbb holds a 400 Gb/s sender for up to 84 us.
HELD_PER_PAUSE, HELD_MOST = 8.4e-5, 0.85
PAUSES_PER_SECOND, UNORDERED_PER_SECOND, REPEATED_SHARE = 0.2, 1 / 3600, 0.5
UNORDERED_PER_DROP = 0.25  # at each port of a rack, per packet that an uplink drops
RX_NOISE = 0.01
RX_WATTS, RX_LOSS_DECIBELS_PER_ERROR, RX_LOSS_MOST_DECIBELS = 0.9e-3, 0.04, 2.5


class Ports:
    """State of all ports; arrays are in the order of `Machines.ports`."""

    def __init__(self, machines: Machines, seed: int) -> None:
        made = generator(seed, "nic.made")
        count = len(machines.ports)
        self._hardware, self._beat = machines.of_gpus, machines.beat
        self._rack_of = np.repeat(machines.rack_of, machines.width)
        self._node_of = np.repeat(np.arange(len(machines.nodes)), machines.width)
        self._noise = generator(seed, "nic.noise")
        self._errors = generator(seed, "nic.errors")
        self._optic_watts: Floats = RX_WATTS * np.exp(made.normal(0.0, 0.08, count))
        self._optic_celsius = made.normal(52.0, 1.5, count)
        self.stalled: Floats = np.zeros(count)  # seconds of this second spent retraining
        self._loss: Floats = np.zeros(count)
        self._symbol_rate: Floats = np.zeros(count)
        self._carrier: Floats = made.integers(1, 6, count).astype(float)
        self._downed: Floats = np.floor(self._carrier / 2)
        self.down: Bools = np.zeros(count, dtype=bool)
        self._congestion: Floats = np.zeros(count)
        self._credits: Floats = np.zeros(count)
        self._dimmed: Floats = np.zeros(count)
        self._kelvin: Floats = np.zeros(count)
        self._halved: Floats = np.ones(count)  # what is left of the speed
        self._lanes: Floats = np.full(count, float(FULL_WIDTH))
        self._held: Floats = np.zeros(count)  # share of time held by pause frames
        self._rare = generator(seed, "nic.rare")
        self._start_counters(made, count)

    def _start_counters(self, made: np.random.Generator, count: int) -> None:
        self.tx: Floats = np.floor(made.uniform(1e12, 1e15, count))
        self.rx: Floats = np.floor(self.tx * made.uniform(0.99, 1.01, count))
        self.symbol_errors: Floats = made.poisson(12, count).astype(float)
        self.rx_errors: Floats = made.poisson(0.4, count).astype(float)
        self.recoveries: Floats = made.poisson(0.2, count).astype(float)
        self.waits: Floats = np.floor(made.uniform(0, 1e6, count))
        self.marks: Floats = np.floor(made.uniform(0, 1e5, (3, count)))  # handled, sent, seen
        self.unordered: Floats = np.zeros(count)
        self.repeated: Floats = np.zeros(count)
        self.unbuffered: Floats = np.zeros(count)
        self.pauses: Floats = np.zeros((2, count))  # received, sent

    def reboot(self, where: slice) -> None:
        """Begin all counters anew."""
        counters = (self.tx, self.rx, self.symbol_errors, self.rx_errors, self.recoveries)
        rare = (self.unordered, self.repeated, self.unbuffered, *self.pauses)
        for counter in (*counters, self.waits, self._carrier, self._downed, *self.marks, *rare):
            counter[where] = 0.0

    def slowdown(self) -> Floats:
        """Return by what factor an exchange through each port takes longer."""
        factor: Floats = (1.0 + self._congestion) / (1.0 - self._loss)
        narrow = np.minimum(self._halved, self._lanes / FULL_WIDTH)
        waits = 1.0 + CREDIT_SHARE * self._credits
        return factor * waits / (narrow * (1.0 - self._held))

    def advance(self, load: Load, knobs: Knobs) -> None:
        """Go on by one beat."""
        self._symbol_rate = SYMBOL_ERRORS_PER_SECOND + knobs.symbol_errors
        errors = self._errors.poisson(self._beat * self._symbol_rate)
        self.symbol_errors += errors
        self.rx_errors += self._errors.binomial(errors, RX_ERROR_SHARE)
        rate = knobs.symbol_errors * RECOVERIES_PER_SYMBOL_ERROR
        recovered = self._errors.poisson(self._beat * rate)
        self.recoveries += recovered
        self.stalled = RECOVERY_STALL_SECONDS * recovered.astype(np.float64)
        self._loss = np.minimum(RETRANSMIT_SHARE * knobs.symbol_errors, RETRANSMIT_MOST)
        self._congestion = knobs.congestion[self._rack_of]
        self._suffer(load, knobs)
        off = knobs.down[self._node_of] > 0
        self._connect((knobs.cut > 0) | off | (knobs.switch_down[self._rack_of] > 0))
        self._move(load)

    def _suffer(self, load: Load, knobs: Knobs) -> None:
        """Take over what is rare: light, heat, speed, lanes, pauses, packets out of sequence."""
        self._credits = knobs.credits[self._rack_of]
        self._dimmed, self._kelvin = knobs.dimmed.copy(), knobs.optic_kelvin.copy()
        self._halved = 0.5 ** np.round(knobs.speed_halved)
        self._lanes = FULL_WIDTH * 0.5 ** np.round(knobs.port_lanes_halved)
        storm = knobs.storm[self._rack_of]
        paused = np.stack([knobs.paused + storm, knobs.pausing])
        self._held = np.minimum(HELD_PER_PAUSE * paused[0], HELD_MOST)
        busy = load.network > 0
        lost = UNORDERED_PER_DROP * knobs.dropped[self._rack_of] * busy
        unordered = knobs.unordered + lost + UNORDERED_PER_SECOND
        rates = (*(paused + PAUSES_PER_SECOND * busy), unordered)
        counts = self._rare.poisson(self._beat * np.stack([*rates, knobs.unbuffered]))
        self.pauses += counts[:2]
        self.unordered += counts[2]
        self.repeated += self._rare.binomial(counts[2], REPEATED_SHARE)
        self.unbuffered += counts[3]

    def _connect(self, down: Bools) -> None:
        """Count what the driver counts when a link goes down or comes back."""
        self._carrier += down != self.down
        self._downed += down & ~self.down
        self.down = down

    def _move(self, load: Load) -> None:
        noise = self._noise.normal(1.0, 0.005, (3, len(self.tx)))
        rate = np.where(self.down, 0.0, load.network * (1.0 - self._loss))
        idle = IDLE_BYTES_PER_SECOND * ~self.down
        self.tx += np.floor(self._beat * (rate * noise[0].clip(0) + idle))
        self.rx += np.floor(self._beat * (rate * noise[1].clip(0) + idle))
        busy = load.network / self._hardware.port_bytes_per_second
        crowd = 1.0 + 4.0 * self._congestion + self._credits
        waits = 2e4 * busy * noise[2].clip(0) * crowd
        self.waits += np.floor(self._beat * waits)
        marks = (MARKS_PER_SECOND + MARKS_CONGESTED_PER_SECOND * self._congestion) * (busy > 0)
        self.marks += self._errors.poisson(self._beat * marks, self.marks.shape)

    def readings(self) -> dict[str, Floats]:
        """Return what the adapter reports, in catalogue units."""
        ones = np.ones(len(self.tx))
        noise = self._noise.normal(size=(3, len(ones)))
        fading = (RX_LOSS_DECIBELS_PER_ERROR * (self._symbol_rate)).clip(0, RX_LOSS_MOST_DECIBELS)
        bits = 8 * self._hardware.port_bytes_per_second
        return {
            "nic_tx_bytes_total": self.tx,
            "nic_rx_bytes_total": self.rx,
            "nic_link_up": (~self.down).astype(float),
            "nic_carrier_changes_total": self._carrier,
            "nic_symbol_errors_total": _narrow("nic_symbol_errors_total", self.symbol_errors),
            "nic_link_downed_total": _narrow("nic_link_downed_total", self._downed),
            "nic_link_recoveries_total": _narrow("nic_link_recoveries_total", self.recoveries),
            "nic_rx_errors_total": _narrow("nic_rx_errors_total", self.rx_errors),
            "nic_tx_discards_total": 0 * ones,
            "nic_rx_drops_total": 0 * ones,
            "nic_tx_wait_ticks_total": _narrow("nic_tx_wait_ticks_total", self.waits),
            "nic_cnp_handled_packets_total": self.marks[0],
            "nic_cnp_sent_packets_total": self.marks[1],
            "nic_ecn_marked_packets_total": self.marks[2],
            "nic_link_speed_bytes_per_second": self._hardware.port_bytes_per_second * self._halved,
            "nic_link_speed_max_bytes_per_second": self._hardware.port_bytes_per_second,
            "nic_optical_temperature_celsius": np.round(
                self._optic_celsius + self._kelvin + 0.3 * noise[0], 1
            ),
            "nic_optical_rx_power_watts": self._optic_watts
            * 10 ** (-(fading + self._dimmed) / 10)
            * (1 + RX_NOISE * noise[1]),
            "nic_bit_error_ratio": (1e-14 + self._symbol_rate / bits) * np.exp(0.2 * noise[2]),
            "nic_rx_out_of_sequence_packets_total": self.unordered,
            "nic_packet_sequence_errors_total": self.repeated,
            "nic_out_of_buffer_drops_total": self.unbuffered,
            "nic_pfc_rx_pause_frames_total": self.pauses[0],
            "nic_pfc_tx_pause_frames_total": self.pauses[1],
            "nic_pcie_link_width": self._lanes,
            "nic_pcie_link_width_max": FULL_WIDTH * ones,
        }


def _narrow(signal: str, counter: Floats) -> Floats:
    """Return the counter as its narrow register shows it: it stops when full."""
    full = CATALOGUE[signal].saturates_at
    assert full is not None  # noqa: S101 (a fact of the catalogue; a test covers it)
    return np.minimum(counter, full)
