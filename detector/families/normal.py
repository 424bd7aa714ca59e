"""Codes that are the ordinary course of things: a visible table. All other codes are findings."""

from forewarn import codes

NORMAL = (
    "job.state:running", "job.state:pending", "job.state:completing", "job.state:completed",
    "job.state:preempted",  # the scheduler's right; what comes again and again it counts itself
    "job.state:checkpoint_begin", "job.state:checkpoint_end",
    "job.state:evaluation_begin", "job.state:evaluation_end",
    "nic.link_state:init", "nic.link_state:armed", "nic.link_state:active", "nic.link_state:up",
    "storage.mount_state:mounted",
    "switch.port_state:up", "switch.sensor:ok", "switch.queue_watchdog:restored",
    "node.service_state:ok", "gpu.recovery_action:none",
    "gpu.clock_event:hw_thermal_end", "gpu.clock_event:hw_power_brake_end",
    "gpu.clock_event:hw_slowdown_end", "gpu.clock_event:sw_thermal_end",
    "gpu.clock_event:sw_power_cap_end",
    "node.maintenance:any",  # planned work explains findings; it is none itself
    "slurm.node_state:idle", "slurm.node_state:allocated", "slurm.node_state:mixed",
)  # fmt: skip


def is_normal(code: str) -> bool:
    """Say whether a code is no finding."""
    return any(codes.matches(pattern, code) for pattern in NORMAL)
