from collections.abc import Callable

import pytest

from exporters.collector import CollectorError, Host
from exporters.host.limits import Limits, file_descriptors_used, memory_available
from tests.exporters.fakes import Everything, table


def test_memory_is_in_bytes() -> None:
    assert memory_available("MemTotal: 9 kB\nMemAvailable:   24315756 kB\n") == 24315756 * 1024


def test_memory_without_its_line_is_an_error() -> None:
    with pytest.raises(CollectorError, match="no MemAvailable"):
        memory_available("MemTotal: 9 kB\n")


def test_file_descriptors_are_a_share_of_the_limit() -> None:
    assert file_descriptors_used("1000\t200\t1600\n") == 0.5


@pytest.mark.parametrize("text", ["1 2", "1 2 0", ""])
def test_file_descriptors_of_another_shape_are_an_error(text: str) -> None:
    with pytest.raises(CollectorError, match="expected three counts"):
        file_descriptors_used(text)


def test_captured_machine_gives_all_three(captured: Host) -> None:
    found = table(Limits(captured).read(Everything()))
    assert found["node_hung_tasks_total", ""] == 0
    assert 0 < float(found["node_file_descriptors_used_ratio", ""]) < 1
    assert float(found["node_memory_available_bytes", ""]) > 1e9


def test_a_kernel_without_the_file_does_not_support_it(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    put("proc/meminfo", "MemAvailable: 1 kB\n")
    put("proc/sys/fs/file-nr", "1 0 2\n")
    assert table(Limits(empty).read(Everything()))["node_hung_tasks_total", ""] == "UNSUPPORTED"
