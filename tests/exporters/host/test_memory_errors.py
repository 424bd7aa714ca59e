from collections.abc import Callable

from exporters.collector import Host
from exporters.host.memory_errors import MemoryErrors
from tests.exporters.fakes import Everything, table


def test_controllers_are_summed(empty: Host, put: Callable[[str, str], None]) -> None:
    for controller, corrected in (("mc0", 3), ("mc1", 4)):
        put(f"sys/devices/system/edac/mc/{controller}/ce_count", f"{corrected}\n")
        put(f"sys/devices/system/edac/mc/{controller}/ue_count", "0\n")
    put("sys/devices/system/edac/mc/power/ce_count", "99\n")
    assert table(MemoryErrors(empty).read(Everything())) == {
        ("node_memory_ecc_corrected_errors_total", ""): 7.0,
        ("node_memory_ecc_uncorrected_errors_total", ""): 0.0,
    }
