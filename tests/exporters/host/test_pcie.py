from collections.abc import Callable

import pytest

from exporters.collector import CollectorError, Host
from exporters.host.pcie import Pcie, parse
from tests.exporters.fakes import Everything, table

# As Documentation/ABI/testing/sysfs-bus-pci-devices-aer shows it.
CORRECTABLE = """RxErr 2
BadTLP 0
BadDLLP 0
Rollover 0
Timeout 0
NonFatalErr 0
CorrIntErr 0
HeaderOF 0
TOTAL_ERR_COR 2
"""


def test_the_total_line_is_read() -> None:
    assert parse(CORRECTABLE, "TOTAL_ERR_COR") == 2


def test_a_file_without_the_total_is_an_error() -> None:
    with pytest.raises(CollectorError, match="no line TOTAL_ERR_FATAL"):
        parse(CORRECTABLE, "TOTAL_ERR_FATAL")


def test_devices_are_summed_and_missing_kinds_are_unsupported(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    for slot in ("0000:1a:00.0", "0000:1b:00.0"):
        put(f"sys/bus/pci/devices/{slot}/aer_dev_correctable", CORRECTABLE)
    put("sys/bus/pci/devices/0000:1a:00.0/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0\n")
    assert table(Pcie(empty).read(Everything())) == {
        ("node_pcie_corrected_errors_total", ""): 4.0,
        ("node_pcie_nonfatal_errors_total", ""): "UNSUPPORTED",
        ("node_pcie_fatal_errors_total", ""): 0.0,
    }
