"""The table of faults: one file and one line each."""

from simulator.faults.congestion import CONGESTION
from simulator.faults.coolant_flow_loss import COOLANT_FLOW_LOSS
from simulator.faults.coolant_warm import COOLANT_WARM
from simulator.faults.cpu_contention import CPU_CONTENTION
from simulator.faults.data_starved import DATA_STARVED
from simulator.faults.disk_full import DISK_FULL
from simulator.faults.ecc_corrected import ECC_CORRECTED
from simulator.faults.ecc_uncorrected import ECC_UNCORRECTED
from simulator.faults.fault import Mode
from simulator.faults.gpu_lost import GPU_LOST
from simulator.faults.host_oom import HOST_OOM
from simulator.faults.link_crc import LINK_CRC
from simulator.faults.link_errors import LINK_ERRORS
from simulator.faults.link_flapping import LINK_FLAPPING
from simulator.faults.loss_nan import LOSS_NAN
from simulator.faults.pcie_width import PCIE_WIDTH
from simulator.faults.rack_restricted import RACK_RESTRICTED
from simulator.faults.room_warm import ROOM_WARM
from simulator.faults.slow_loader import SLOW_LOADER
from simulator.faults.storage_saturated import STORAGE_SATURATED
from simulator.faults.supplies_lost import SUPPLIES_LOST
from simulator.faults.switch_down import SWITCH_DOWN
from simulator.faults.thermal_paste import THERMAL_PASTE

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
    )
}
