"""The smallest change worth telling, in physical units: a visible table, by unit and by signal.

A learned band knows what is unusual; it takes a floor to know what matters. Defaults are ours,
chosen above sensor resolution and ordinary control swings; per hardware model later.
"""

import msgspec

from forewarn.catalogue import Bad, Kind, Signal


class Effect(msgspec.Struct, frozen=True):
    """The floor is the larger of `absolute` (the signal's unit) and `relative` x expected level."""

    absolute: float
    relative: float = 0.0


UNITS: dict[str, Effect] = {
    "celsius": Effect(5.0),
    "watts": Effect(20.0, 0.10),
    "hertz": Effect(5e7, 0.08),
    "ratio": Effect(0.15, 0.15),
    "seconds": Effect(0.01, 0.5),
    "bytes": Effect(1 << 30, 0.15),
    "bytes_per_second": Effect(1e8, 0.5),
    "joules": Effect(20.0, 0.10),
    "volts": Effect(0.02, 0.05),
    "amperes": Effect(1.0, 0.10),
    "pascals": Effect(2e4, 0.10),
    "decibels": Effect(2.0),
    "rpm": Effect(500.0, 0.15),
    "liters_per_second": Effect(0.1, 0.10),
    "count": Effect(10.0, 0.5),
    "state": Effect(1.0),
    "bool": Effect(1.0),
    "kelvin_per_watt": Effect(0.0, 0.08),
    "none": Effect(1.0, 0.5),
}
SIGNALS: dict[str, Effect] = {
    # a link that works at all makes its sender wait a few thousand ticks a second
    "nic_tx_wait_ticks_total": Effect(4000.0, 0.5),
    "switch_port_tx_wait_ticks_total": Effect(4000.0, 0.5),
    # a node's processors, memory and waits swing with whatever the host does
    "node_cpu_utilization_ratio": Effect(0.3),
    "node_cpu_iowait_ratio": Effect(0.3),
    "node_cpu_steal_ratio": Effect(0.2),
    "node_memory_available_bytes": Effect(4 << 30, 0.4),
    "node_page_cache_hit_ratio": Effect(0.3),
    "node_clock_offset_seconds": Effect(0.01),
    "node_clock_error_seconds": Effect(0.05, 2.0),
    # pressure is a share of time per second, 0-1
    "node_pressure_cpu_seconds_total": Effect(0.5),
    "node_pressure_io_seconds_total": Effect(0.4),
    "node_pressure_memory_seconds_total": Effect(0.2),
    # share of time with clocks held down, 0-1
    "gpu_throttle_power_seconds_total": Effect(0.3),
    "gpu_throttle_thermal_seconds_total": Effect(0.02),
    "agent_collector_duration_seconds": Effect(1.0, 1.0),
    "agent_memory_bytes": Effect(64 << 20, 0.5),
    "agent_cpu_seconds_total": Effect(0.1, 1.0),
    "nic_bit_error_ratio": Effect(1e-8, 9.0),
    "nic_optical_rx_power_watts": Effect(1e-4, 0.3),
    "nic_optical_tx_power_watts": Effect(1e-4, 0.3),
    "nic_path_imbalance_ratio": Effect(0.3, 0.3),
    # read every 10 s, power beats with steps of a few seconds: half of it comes and goes
    "node_power_watts": Effect(200.0, 0.4),
    "psu_input_power_watts": Effect(100.0, 0.4),
    "psu_output_power_watts": Effect(100.0, 0.4),
    "disk_read_latency_seconds": Effect(0.02, 2.0),
    "disk_write_latency_seconds": Effect(0.02, 2.0),
    "disk_io_seconds_total": Effect(0.5),
    "disk_weighted_io_seconds_total": Effect(2.0, 2.0),
    # ranks against their twins: 5 % slower and z > 6 told the one slow worker of real traces from
    # all others (ByteDance AR, ST); only what computing, data and links take, not who waits
    "rank_step_seconds": Effect(0.0, 0.05),
    "rank_compute_seconds": Effect(0.0, 0.05),
    "rank_data_wait_seconds": Effect(0.01, 0.5),
    "rank_communication_bytes_per_second": Effect(0.0, 0.10),
    "rank_collective_sequence": Effect(4.0),
}
OTHER = Effect(0.0, 0.5)
# What normal is, the job says: these are judged only while one runs there, and not in its pauses.
LOAD = frozenset(
    "gpu_utilization_ratio gpu_memory_controller_busy_ratio gpu_core_active_ratio "
    "gpu_core_occupancy_ratio gpu_tensor_active_ratio gpu_memory_bandwidth_active_ratio "
    "gpu_memory_used_bytes gpu_memory_used_ratio gpu_power_watts gpu_core_clock_hertz "
    "gpu_memory_clock_hertz gpu_voltage_volts gpu_temperature_celsius "
    "gpu_temperature_margin_celsius gpu_memory_temperature_celsius gpu_pcie_tx_bytes_per_second "
    "gpu_pcie_rx_bytes_per_second gpu_peer_to_peer_bytes_per_second gpu_slice_utilization_ratio "
    "gpu_slice_memory_used_ratio gpu_throttle_power_seconds_total nic_rx_bytes_total "
    "nic_tx_bytes_total nic_utilization_ratio nic_path_imbalance_ratio node_power_watts "
    "node_overhead_power_watts node_overhead_power_ratio node_fan_speed_rpm node_fan_speed_ratio "
    "node_outlet_temperature_celsius psu_input_power_watts psu_output_power_watts "
    "node_cpu_utilization_ratio node_cpu_iowait_ratio node_memory_available_bytes "
    "node_page_cache_hit_ratio".split()
)
# Counters of ordinary traffic control: their rate is a level (band), not a count of errors.
FLOW = frozenset(
    "nic_tx_wait_ticks_total nic_cnp_sent_packets_total nic_cnp_handled_packets_total "
    "nic_ecn_marked_packets_total nic_pfc_tx_pause_frames_total nic_pfc_rx_pause_frames_total "
    "switch_port_tx_wait_ticks_total switch_port_pfc_rx_pause_frames_total "
    "switch_port_pfc_tx_pause_frames_total nic_rx_out_of_sequence_packets_total "
    "storage_metadata_operations_total".split()
)
# Settings and capabilities that twins have in common from the first sample on: no level to learn.
CONFIGURED = frozenset(
    "gpu_power_limit_watts gpu_power_limit_default_watts gpu_temperature_limit_celsius "
    "gpu_ecc_enabled gpu_memory_total_bytes gpu_pcie_link_generation gpu_pcie_link_width "
    "gpu_pcie_link_generation_max gpu_pcie_link_width_max nic_pcie_link_width "
    "nic_pcie_link_generation nic_link_speed_bytes_per_second nic_link_speed_max_bytes_per_second "
    "node_gpus_expected node_nics_expected scale_up_links_expected".split()
)
CONFIGURED_EFFECT = Effect(0.0, 0.05)
# Checkpoints write in bursts, minutes apart: much traffic is work. Too little is another matter.
BURSTS = frozenset({"storage_read_bytes_total", "storage_write_bytes_total"})
# What a place carries, its jobs say: its neighbours say nothing about it.
UNEVEN = frozenset(
    "rack_power_watts rack_power_density_ratio pdu_power_watts pdu_current_amperes "
    "pdu_breaker_load_ratio rack_outlet_temperature_celsius "
    "rack_coolant_return_temperature_celsius rack_coolant_valve_position_ratio "
    "facility_coolant_return_temperature_celsius facility_heat_removed_watts "
    "facility_pump_speed_ratio switch_port_tx_wait_ticks_total switch_port_rx_bytes_total "
    "switch_port_tx_bytes_total switch_port_pfc_rx_pause_frames_total "
    "switch_port_pfc_tx_pause_frames_total switch_port_buffer_watermark_bytes".split()
)
# How busy a device is: that follows from its rank and from whom it waits for; ranks are compared.
BUSY = frozenset(
    "gpu_utilization_ratio gpu_memory_controller_busy_ratio gpu_core_active_ratio "
    "gpu_core_occupancy_ratio gpu_tensor_active_ratio gpu_memory_bandwidth_active_ratio "
    "gpu_power_watts gpu_voltage_volts scale_up_tx_bytes_per_second scale_up_rx_bytes_per_second "
    "gpu_pcie_tx_bytes_per_second gpu_pcie_rx_bytes_per_second nic_rx_bytes_total "
    "nic_tx_bytes_total nic_utilization_ratio switch_port_utilization_ratio".split()
)
# An idle device lets its link sleep: comparable only where one job keeps all awake.
ASLEEP_WHEN_IDLE = frozenset({"gpu_pcie_link_generation", "gpu_pcie_link_width"})
RANKS = frozenset(
    "rank_step_seconds rank_compute_seconds rank_data_wait_seconds "
    "rank_communication_bytes_per_second rank_collective_sequence".split()
)
OWNED = frozenset({"job", "rank", "queue"})  # entities whose levels other families judge


def effect(signal: Signal) -> Effect:
    """Return the effect floor of a signal."""
    return SIGNALS.get(signal.name) or UNITS.get(signal.unit, OTHER)


def errors(signal: Signal) -> bool:
    """Say whether a signal counts errors: the counter family's job."""
    if signal.kind is not Kind.COUNTER or signal.name in FLOW:
        return False
    return signal.bad is Bad.ANY_INCREASE or (signal.bad is Bad.HIGH and signal.unit == "count")


def compared(signal: Signal) -> bool:
    """Say whether series of a signal are held against their twins.

    Time in communication is not: who waits for a slow rank has most of it.
    """
    if signal.name in UNEVEN or signal.name in BUSY:
        return False
    if signal.name in LOAD and signal.period_seconds > 1:
        return False  # a swing that is sampled every ten seconds beats, each device in its own time
    return bool(signal.peers) and (
        signal.name in CONFIGURED or signal.name in RANKS
        or (banded(signal) and signal.layer != "agent")
    )  # fmt: skip


def follows_job(signal: Signal) -> bool:
    """Say whether a level is what the job makes of it, so that only its own devices compare."""
    return signal.name in LOAD or signal.name in ASLEEP_WHEN_IDLE


def from_twins(signal: Signal) -> Effect:
    """Return the smallest distance from twins worth telling."""
    return CONFIGURED_EFFECT if signal.name in CONFIGURED else effect(signal)


def banded(signal: Signal) -> bool:
    """Say whether a signal has a level that a band can learn."""
    if signal.kind is Kind.STATE or signal.entity in OWNED or errors(signal):
        return False
    return signal.bad in {Bad.HIGH, Bad.LOW, Bad.BOTH} and not signal.name.endswith(LIMITS)


# A device's own limits and expectations are configuration: they step when somebody sets them.
LIMITS = ("_limit_celsius", "_max", "_expected", "_default_watts", "_limit_rpm", "_alarm_watts",
          "_max_bytes_per_second", "_limit_watts")  # fmt: skip
