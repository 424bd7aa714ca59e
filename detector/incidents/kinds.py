"""What a finding is about: hardware at its entity, or one of the ways a job suffers.

A job's symptom is not where a fault sits: it goes to the hardware incident that can cause it, else
it makes the job's own incident.
"""

from functools import lru_cache
from typing import Literal

from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE
from forewarn.records import Finding

Kind = Literal["hardware", "numeric", "slow", "stopped"]
# What a finding says, whatever it says it of: signal, movement, code.
Sign = tuple[str, str, str]

# The numbers of the model itself: what hardware does to them is not seen in any device's signal,
# so they stand on their own (failures TRN-02 to TRN-05).
NUMERIC = frozenset(
    "job_loss job_gradient_norm job_nan_steps_total job_skipped_steps_total job.nan job_loss_scale"
    " rank.replay_mismatch".split()
)
# The job no longer advances, or not under its own power.
STOPPED = frozenset(
    "job_last_step_age_seconds job_hang_detected job_restarts_total job.state job.log_event"
    " nccl.error cuda.error hccl.error rank.collective_state rank_collective_sequence"
    " rank.stack_group".split()
)
# How busy a device is. Devices of one job wait for the slowest of them, so a low load on many says
# that the job is slow, not that each of them is ill.
LOAD = frozenset(
    "gpu_utilization_ratio gpu_memory_controller_busy_ratio gpu_core_active_ratio"
    " gpu_core_occupancy_ratio gpu_tensor_active_ratio gpu_memory_bandwidth_active_ratio"
    " gpu_power_watts gpu_energy_joules_total scale_up_tx_bytes_per_second"
    " scale_up_rx_bytes_per_second gpu_pcie_tx_bytes_per_second gpu_pcie_rx_bytes_per_second"
    " nic_rx_bytes_total nic_tx_bytes_total nic_utilization_ratio node_cpu_utilization_ratio"
    " node_power_watts".split()
)
AWAY = frozenset({"absent", "zero", "stuck"})  # it does not speak, or says the same for ever
UP_SIGNALS = frozenset({"node_up", "agent_up"})  # that speak for a whole node
# What stands above devices and can be the fault itself. A node is raised to only by a majority of
# its parts: its log speaks of each of them.
SHARED = frozenset("rack switch switch_port cdu pdu facility storage_target".split())
FALLS = frozenset({"down", "step_down", "zero", "below"})
_JOB_LAYERS = frozenset({"job", "rank"})


def kind_of(finding: Finding, job: str) -> Kind:
    """Say what the finding is about; `job` is the job of its entity, empty where it has none."""
    if finding.signal in NUMERIC:
        return "numeric"
    if finding.signal in STOPPED:
        return "stopped"
    if is_load(finding) and job:
        return "slow"
    if entities.root(finding.entity).startswith("job/"):
        return "slow"
    return "hardware"


def sign_of(finding: Finding) -> Sign:
    """Return what the finding says."""
    return finding.signal, finding.movement, finding.code


def is_load(finding: Finding) -> bool:
    """Say whether it is a fall of how busy a device is."""
    return finding.signal in LOAD and finding.movement in FALLS


@lru_cache
def drivers_of(signal: str) -> frozenset[str]:
    """Return the signals that drive one (catalogue `context`), and what drives those in turn."""
    found: set[str] = set()
    waiting = [signal]
    while waiting:
        own = CATALOGUE.get(waiting.pop())
        fresh = set(own.context if own is not None else ()) - found
        found |= fresh
        waiting += fresh
    return frozenset(found - {signal})


def layer_of(finding: Finding) -> str:
    """Return the catalogue's layer of the signal; empty for a signal it does not know."""
    return CATALOGUE[finding.signal].layer if finding.signal in CATALOGUE else ""
