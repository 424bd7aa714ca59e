"""Which signals are simulated for each kind of entity.

Order is the order in a frame. Periods come from the catalogue.
"""

GPU_SIGNALS = tuple("""
gpu_utilization_ratio gpu_memory_controller_busy_ratio gpu_tensor_active_ratio
gpu_temperature_celsius gpu_temperature_margin_celsius gpu_memory_temperature_celsius
gpu_power_watts gpu_core_clock_hertz gpu_clock_event_reasons
gpu_pcie_tx_bytes_per_second gpu_pcie_rx_bytes_per_second scale_up_tx_bytes_per_second
gpu_memory_used_bytes gpu_energy_joules_total gpu_memory_clock_hertz
gpu_throttle_power_seconds_total gpu_throttle_thermal_seconds_total
gpu_ecc_corrected_errors_total gpu_ecc_uncorrected_errors_total
gpu_pcie_replays_total gpu_pcie_link_width gpu_throttle_power_brake_seconds_total
scale_up_crc_errors_total scale_up_replays_total scale_up_recoveries_total
gpu_temperature_limit_celsius gpu_power_limit_watts
gpu_row_remap_corrected_rows_total gpu_row_remap_pending gpu_pcie_link_width_max
""".split())  # fmt: skip
NIC_SIGNALS = tuple("""
nic_tx_bytes_total nic_rx_bytes_total nic_link_up nic_carrier_changes_total
nic_symbol_errors_total nic_link_downed_total nic_link_recoveries_total nic_rx_errors_total
nic_tx_discards_total nic_rx_drops_total nic_tx_wait_ticks_total
nic_cnp_handled_packets_total nic_cnp_sent_packets_total nic_ecn_marked_packets_total
nic_link_speed_bytes_per_second nic_link_speed_max_bytes_per_second
nic_optical_temperature_celsius nic_optical_rx_power_watts nic_bit_error_ratio
""".split())  # fmt: skip
NODE_SIGNALS = tuple("""
node_cpu_utilization_ratio node_cpu_iowait_ratio
node_pressure_cpu_seconds_total node_pressure_io_seconds_total node_pressure_memory_seconds_total
node_memory_available_bytes node_clock_offset_seconds node_clock_error_seconds
node_clock_synchronized node_power_watts node_inlet_temperature_celsius
node_outlet_temperature_celsius node_fan_speed_ratio
node_memory_ecc_corrected_errors_total node_pcie_corrected_errors_total node_hung_tasks_total
node_gpus_present node_gpus_expected
""".split())  # fmt: skip
LOCAL_MOUNT_SIGNALS = tuple("""
node_filesystem_used_ratio node_filesystem_inodes_used_ratio node_filesystem_read_only
""".split())  # fmt: skip
SHARED_MOUNT_SIGNALS = tuple("""
storage_operation_latency_seconds storage_operations_total storage_rpc_slot_wait_seconds
storage_rpc_backlogged_requests_total storage_mount_probe_seconds
""".split())  # fmt: skip
SWITCH_SIGNALS = ("switch_up", "switch_temperature_celsius")
SWITCH_PORT_SIGNALS = tuple("""
switch_port_utilization_ratio switch_port_rx_bytes_total switch_port_tx_bytes_total
switch_port_discards_total switch_port_symbol_errors_total switch_port_tx_wait_ticks_total
switch_port_buffer_watermark_bytes
""".split())  # fmt: skip
CDU_SIGNALS = tuple("""
facility_coolant_flow_liters_per_second facility_coolant_supply_temperature_celsius
facility_coolant_return_temperature_celsius facility_coolant_differential_pressure_pascals
facility_coolant_supply_pressure_pascals facility_coolant_return_pressure_pascals
facility_heat_removed_watts facility_pump_speed_ratio
""".split())  # fmt: skip
RACK_AIR_SIGNALS = ("rack_inlet_temperature_celsius",)
RACK_COOLANT_SIGNALS = tuple("""
rack_coolant_flow_liters_per_second rack_coolant_return_temperature_celsius
rack_coolant_differential_pressure_pascals rack_coolant_valve_position_ratio rack_leak_detected
""".split())  # fmt: skip
RACK_POWER_SIGNALS = ("rack_power_watts", "rack_power_supplies_up", "rack_power_limit_watts")
ROOM_SIGNALS = tuple("""
facility_room_temperature_celsius facility_relative_humidity_ratio facility_dew_point_celsius
facility_it_power_watts facility_data_quality
""".split())  # fmt: skip
FEED_SIGNALS = tuple("""
pdu_power_watts pdu_current_amperes pdu_current_limit_amperes pdu_voltage_volts
pdu_breaker_load_ratio
""".split())  # fmt: skip
STORAGE_SIGNALS = tuple("""
storage_read_bytes_total storage_write_bytes_total storage_target_io_seconds_total
storage_errors_total storage_target_used_ratio
""".split())  # fmt: skip
# Read by every agent too, but they stand behind the others in a frame, so that what the others draw
# by chance stays what it was.
GPU_MORE_SIGNALS = tuple("""
gpu_row_remap_uncorrected_rows_total gpu_row_remap_failed scale_up_links_up
scale_up_links_expected scale_up_fatal_errors_total
""".split())  # fmt: skip
NIC_MORE_SIGNALS = tuple("""
nic_rx_out_of_sequence_packets_total nic_packet_sequence_errors_total nic_out_of_buffer_drops_total
nic_pfc_rx_pause_frames_total nic_pfc_tx_pause_frames_total nic_pcie_link_width
nic_pcie_link_width_max
""".split())  # fmt: skip
NODE_MORE_SIGNALS = ("node_tcp_sent_segments_total", "node_tcp_retransmitted_segments_total")
SHARED_MOUNT_MORE_SIGNALS = ("storage_client_evictions_total", "storage_rpc_timeouts_total")
SWITCH_PORT_MORE_SIGNALS = ("switch_port_pfc_rx_pause_frames_total",)
RACK_COOLANT_MORE_SIGNALS = ("rack_leak_sensor_fault",)
STORAGE_MORE_SIGNALS = ("storage_metadata_operations_total", "storage_metadata_latency_seconds")
SCHEDULER = "scheduler"  # the source of maintenance
GPU_EVENTS = ("gpu.clock_event", "nvidia.xid")
NIC_EVENTS = ("nic.link_state", "nic.module_event", "nic.fw_health")
NODE_EVENTS = (
    "kernel.oom", "kernel.event", "kernel.aer", "kernel.mce", "nvidia.sxid", "bmc.sel",
    "nvme.event",
)  # fmt: skip
SCHEDULER_EVENTS = ("node.maintenance", "slurm.node_state")
SHARED_MOUNT_EVENTS = ("storage.mount_state",)
STORAGE_EVENTS = ("storage.target_state",)
SWITCH_EVENTS = ("switch.sensor",)
SWITCH_PORT_EVENTS = ("switch.port_state",)
SUPPLY_EVENTS = ("psu.state",)
RANK_EVENTS = ("nccl.error", "cuda.error", "job.log_event", "rank.replay_mismatch")
RANK_SIGNALS = tuple("""
rank_step_seconds rank_compute_seconds rank_data_wait_seconds rank_communication_seconds
""".split())  # fmt: skip
JOB_SIGNALS = tuple("""
job_loss job_gradient_norm job_step_seconds job_tokens_per_step job_tokens_per_second job_mfu_ratio
job_completed_steps_total job_communication_seconds
""".split())  # fmt: skip
CHECKPOINT_SIGNALS = ("job_checkpoint_seconds",)  # of jobs that make checkpoints
# A NaN loss is seen where the loss is collected.
JOB_EVENTS = ("job.state", "job.nan", "job.config")
