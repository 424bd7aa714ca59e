"""How often machines fail, which way and for how long: measured on 400 GPU servers in 345 days.

Counts, repair times and dispersion are of the InfiniteHBD fault trace (StepFun, Apache-2.0,
arXiv 2502.03885): 584 faults, each with its class and description. `modes` are the faults here that
a description stands for; where a trace does not know the cause we spread it over what stops a job
without a message of its own. What a stress test found before work began is left out.
"""

import msgspec

NODE_DAYS = 400 * 345.1


class Rate(msgspec.Struct, frozen=True):
    """A row: how many faults of a description there were, and their repair.

    `hours` is the median repair time and `sigma` the standard deviation of its logarithm.
    """

    description: str
    count: int
    modes: tuple[str, ...]
    hours: float
    sigma: float

    @property
    def per_node_day(self) -> float:
        """Return faults per node and day."""
        return self.count / NODE_DAYS


UNKNOWN = ("node_down", "job_hangs", "gpu_engine_stopped", "page_fault", "task_hangs",
           "clock_held", "packets_disordered", "cpu_contention")  # fmt: skip
RATES: tuple[Rate, ...] = (
    Rate("Unknown Error", 144, UNKNOWN, 15.8, 2.3),
    Rate("GPU DBE > Threshold", 60, ("ecc_uncorrected", "memory_contained"), 3.2, 3.1),
    Rate("Link Down", 40, ("port_down", "link_flapping", "link_errors"), 47.4, 1.8),
    Rate("GPU device unknown error", 40, ("gpu_engine_stopped", "memory_uncontained"), 0.3, 2.7),
    Rate("Fan Speed Critical", 31, ("fan_fails",), 60.0, 1.5),
    Rate("GPU PCI link width low", 25, ("pcie_width",), 72.0, 2.4),
    Rate("Power Supply Failure", 25, ("supplies_lost",), 360.7, 1.6),
    Rate("Suspect Machine Offline", 14, ("silent_corruption", "clock_held"), 16.5, 1.3),
    Rate("Other Failures", 13, UNKNOWN, 37.5, 2.1),
    Rate("GPU xid Error", 11, ("link_fatal", "gpu_engine_stopped"), 13.8, 1.7),
    Rate("Rnic Gid Error", 11, ("adapter_firmware",), 0.8, 2.5),
    Rate("NIC Link Speed low", 10, ("speed_low",), 233.3, 3.9),
    Rate("nvidia-smi Timeout", 9, ("gsp_timeout",), 25.5, 1.3),
    Rate("NIC Lost", 8, ("adapter_firmware", "port_down"), 3.0, 3.5),
    Rate("Kubelet Data Absent", 7, ("agent_silent",), 16.9, 1.7),
    Rate("GPU Lost", 5, ("gpu_lost",), 70.7, 1.0),
    Rate("Motherboard Failed", 4, ("node_down", "pcie_fatal"), 42.7, 0.8),
    Rate("GPU P2P Bandwidth Low", 3, ("links_inactive",), 890.6, 0.4),
    Rate("GPU Temperature High", 2, ("thermal_paste",), 2075.2, 0.5),
    Rate("Multiple Disk FS Error", 3, ("disk_fails",), 25.7, 1.2),
    Rate("Machine Check Exception", 2, ("memory_errors",), 103.6, 1.1),
    Rate("NIC PCI link Width low", 1, ("nic_lanes_lost",), 17.6, 1.5),
    Rate("GPU SBE > Threshold", 1, ("ecc_corrected",), 71.6, 1.5),
    Rate("Kernel Panic", 2, ("node_reboots", "node_down"), 13.2, 1.5),
    Rate("Silent Data Corruption", 1, ("silent_corruption",), 109.8, 1.5),
    Rate("Remote Optical Module Failure", 1, ("light_weak", "module_hot"), 118.1, 1.5),
    Rate("GPU device not found", 1, ("gpu_missing",), 26.5, 1.5),
)
# Nodes differ: the count of a node is a Poisson count whose mean is a gamma variable of this shape
# (mean 1.46, variance 3.75 over the 400); so do days (index of dispersion 3.4 at 1.69 a day).
NODE_SHAPE, DAY_SHAPE = 0.93, 0.70
LEAST_HOURS = 0.25  # what is shorter nobody repairs
