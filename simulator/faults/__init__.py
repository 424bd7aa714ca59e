"""The table of faults: one file and one line each."""

from simulator.faults.adapter_firmware import ADAPTER_FIRMWARE
from simulator.faults.agent_silent import AGENT_SILENT
from simulator.faults.buffers_lacking import BUFFERS_LACKING
from simulator.faults.building_data_stale import BUILDING_DATA_STALE
from simulator.faults.checkpoint_slow import CHECKPOINT_SLOW
from simulator.faults.client_evicted import CLIENT_EVICTED
from simulator.faults.clock_held import CLOCK_HELD
from simulator.faults.clock_skewed import CLOCK_SKEWED
from simulator.faults.congestion import CONGESTION
from simulator.faults.coolant_flow_loss import COOLANT_FLOW_LOSS
from simulator.faults.coolant_leaks import COOLANT_LEAKS
from simulator.faults.coolant_warm import COOLANT_WARM
from simulator.faults.cpu_contention import CPU_CONTENTION
from simulator.faults.credits_lacking import CREDITS_LACKING
from simulator.faults.data_starved import DATA_STARVED
from simulator.faults.device_memory_lacking import DEVICE_MEMORY_LACKING
from simulator.faults.disk_fails import DISK_FAILS
from simulator.faults.disk_full import DISK_FULL
from simulator.faults.ecc_corrected import ECC_CORRECTED
from simulator.faults.ecc_uncorrected import ECC_UNCORRECTED
from simulator.faults.efficiency_lost import EFFICIENCY_LOST
from simulator.faults.fabric_fatal import FABRIC_FATAL
from simulator.faults.fan_fails import FAN_FAILS
from simulator.faults.fault import Mode
from simulator.faults.feed_overloaded import FEED_OVERLOADED
from simulator.faults.gpu_engine_stopped import GPU_ENGINE_STOPPED
from simulator.faults.gpu_lost import GPU_LOST
from simulator.faults.gpu_missing import GPU_MISSING
from simulator.faults.gradients_creep import GRADIENTS_CREEP
from simulator.faults.gsp_timeout import GSP_TIMEOUT
from simulator.faults.host_oom import HOST_OOM
from simulator.faults.inodes_full import INODES_FULL
from simulator.faults.job_hangs import JOB_HANGS
from simulator.faults.leak_sensor_faulty import LEAK_SENSOR_FAULTY
from simulator.faults.light_weak import LIGHT_WEAK
from simulator.faults.link_crc import LINK_CRC
from simulator.faults.link_errors import LINK_ERRORS
from simulator.faults.link_fatal import LINK_FATAL
from simulator.faults.link_flapping import LINK_FLAPPING
from simulator.faults.links_inactive import LINKS_INACTIVE
from simulator.faults.loss_nan import LOSS_NAN
from simulator.faults.loss_spikes import LOSS_SPIKES
from simulator.faults.lossless_drops import LOSSLESS_DROPS
from simulator.faults.memory_contained import MEMORY_CONTAINED
from simulator.faults.memory_errors import MEMORY_ERRORS
from simulator.faults.memory_hot import MEMORY_HOT
from simulator.faults.memory_uncontained import MEMORY_UNCONTAINED
from simulator.faults.metadata_storm import METADATA_STORM
from simulator.faults.module_hot import MODULE_HOT
from simulator.faults.mount_hangs import MOUNT_HANGS
from simulator.faults.nic_lanes_lost import NIC_LANES_LOST
from simulator.faults.node_down import NODE_DOWN
from simulator.faults.node_reboots import NODE_REBOOTS
from simulator.faults.packets_disordered import PACKETS_DISORDERED
from simulator.faults.page_fault import PAGE_FAULT
from simulator.faults.pause_storm import PAUSE_STORM
from simulator.faults.pcie_fatal import PCIE_FATAL
from simulator.faults.pcie_replays import PCIE_REPLAYS
from simulator.faults.pcie_width import PCIE_WIDTH
from simulator.faults.port_down import PORT_DOWN
from simulator.faults.power_limit_low import POWER_LIMIT_LOW
from simulator.faults.rack_restricted import RACK_RESTRICTED
from simulator.faults.restart_loop import RESTART_LOOP
from simulator.faults.room_humid import ROOM_HUMID
from simulator.faults.room_warm import ROOM_WARM
from simulator.faults.row_remap_failed import ROW_REMAP_FAILED
from simulator.faults.row_remap_pending import ROW_REMAP_PENDING
from simulator.faults.rows_used_up import ROWS_USED_UP
from simulator.faults.segments_lost import SEGMENTS_LOST
from simulator.faults.sensor_frozen import SENSOR_FROZEN
from simulator.faults.shared_memory_lacking import SHARED_MEMORY_LACKING
from simulator.faults.silent_corruption import SILENT_CORRUPTION
from simulator.faults.slow_loader import SLOW_LOADER
from simulator.faults.speed_low import SPEED_LOW
from simulator.faults.storage_full import STORAGE_FULL
from simulator.faults.storage_saturated import STORAGE_SATURATED
from simulator.faults.supplies_lost import SUPPLIES_LOST
from simulator.faults.switch_down import SWITCH_DOWN
from simulator.faults.switch_overheats import SWITCH_OVERHEATS
from simulator.faults.target_offline import TARGET_OFFLINE
from simulator.faults.task_hangs import TASK_HANGS
from simulator.faults.thermal_paste import THERMAL_PASTE
from simulator.faults.voltage_sags import VOLTAGE_SAGS
from simulator.scenario import Fault


def expected_of(mode: Mode) -> tuple[str, ...]:
    """Return the runbook entries that a gradual fault of the middle of its range is expected as."""
    severity = (mode.severities[0] * mode.severities[1]) ** 0.5
    fault = Fault(
        mode=mode.name, entity="", onset_seconds=0.0, severity=severity, form="gradual"
    )  # fmt: skip
    return mode.expected(fault)


FAULTS: dict[str, Mode] = {
    mode.name: mode
    for mode in (
        THERMAL_PASTE,
        ECC_CORRECTED,
        ECC_UNCORRECTED,
        GPU_LOST,
        LINK_CRC,
        PCIE_WIDTH,
        LINK_ERRORS,
        LINK_FLAPPING,
        SWITCH_DOWN,
        CONGESTION,
        STORAGE_SATURATED,
        DISK_FULL,
        CPU_CONTENTION,
        HOST_OOM,
        COOLANT_FLOW_LOSS,
        RACK_RESTRICTED,
        COOLANT_WARM,
        ROOM_WARM,
        SUPPLIES_LOST,
        DATA_STARVED,
        SLOW_LOADER,
        LOSS_NAN,
        GPU_ENGINE_STOPPED,
        GSP_TIMEOUT,
        GPU_MISSING,
        CLOCK_HELD,
        POWER_LIMIT_LOW,
        MEMORY_CONTAINED,
        MEMORY_UNCONTAINED,
        ROW_REMAP_PENDING,
        ROW_REMAP_FAILED,
        ROWS_USED_UP,
        MEMORY_HOT,
        SENSOR_FROZEN,
        PAGE_FAULT,
        LINKS_INACTIVE,
        LINK_FATAL,
        FABRIC_FATAL,
        PCIE_REPLAYS,
        PCIE_FATAL,
        NIC_LANES_LOST,
        PORT_DOWN,
        LIGHT_WEAK,
        SPEED_LOW,
        PACKETS_DISORDERED,
        BUFFERS_LACKING,
        MODULE_HOT,
        ADAPTER_FIRMWARE,
        SEGMENTS_LOST,
        PAUSE_STORM,
        CREDITS_LACKING,
        LOSSLESS_DROPS,
        SWITCH_OVERHEATS,
        CHECKPOINT_SLOW,
        STORAGE_FULL,
        MOUNT_HANGS,
        METADATA_STORM,
        TARGET_OFFLINE,
        CLIENT_EVICTED,
        NODE_DOWN,
        NODE_REBOOTS,
        TASK_HANGS,
        MEMORY_ERRORS,
        INODES_FULL,
        DISK_FAILS,
        FAN_FAILS,
        SHARED_MEMORY_LACKING,
        CLOCK_SKEWED,
        COOLANT_LEAKS,
        LEAK_SENSOR_FAULTY,
        FEED_OVERLOADED,
        VOLTAGE_SAGS,
        ROOM_HUMID,
        BUILDING_DATA_STALE,
        LOSS_SPIKES,
        GRADIENTS_CREEP,
        EFFICIENCY_LOST,
        SILENT_CORRUPTION,
        RESTART_LOOP,
        JOB_HANGS,
        DEVICE_MEMORY_LACKING,
        AGENT_SILENT,
    )
}
