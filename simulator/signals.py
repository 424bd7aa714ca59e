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
gpu_pcie_replays_total gpu_pcie_link_width
gpu_temperature_limit_celsius gpu_power_limit_watts
gpu_row_remap_corrected_rows_total gpu_row_remap_pending
""".split())  # fmt: skip
NIC_SIGNALS = tuple("""
nic_tx_bytes_total nic_rx_bytes_total nic_link_up nic_carrier_changes_total
nic_symbol_errors_total nic_link_downed_total nic_link_recoveries_total nic_rx_errors_total
nic_tx_discards_total nic_rx_drops_total nic_tx_wait_ticks_total
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
SCHEDULER = "scheduler"  # the source of NODE_EVENTS
GPU_EVENTS = ("gpu.clock_event",)
NODE_EVENTS = ("node.maintenance",)
RANK_SIGNALS = tuple("""
rank_step_seconds rank_compute_seconds rank_data_wait_seconds rank_communication_seconds
""".split())  # fmt: skip
JOB_SIGNALS = tuple("""
job_loss job_gradient_norm job_step_seconds job_tokens_per_step job_tokens_per_second job_mfu_ratio
job_completed_steps_total
""".split())  # fmt: skip
CHECKPOINT_SIGNALS = ("job_checkpoint_seconds",)  # of jobs that make checkpoints
# A NaN loss is seen where the loss is collected.
JOB_EVENTS = ("job.state", "job.nan")
