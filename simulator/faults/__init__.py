"""The table of faults: one file and one line each."""

from simulator.faults.fault import Mode
from simulator.faults.link_errors import LINK_ERRORS
from simulator.faults.loss_nan import LOSS_NAN
from simulator.faults.thermal_paste import THERMAL_PASTE

FAULTS: dict[str, Mode] = {
    mode.name: mode
    for mode in (
        THERMAL_PASTE,
        LINK_ERRORS,
        LOSS_NAN,
    )
}
