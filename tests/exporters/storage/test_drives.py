from collections.abc import Callable

import pytest

from exporters.collector import CollectorError, Host
from exporters.storage.drives import Drive, Drives, latencies, parse
from tests.exporters.fakes import Everything, table

LINE = " 259       0 nvme0n1 100 5 2000 250 40 3 800 1000 2 1200 1400 0 0 0 0 9 4\n"


def test_fields_are_where_the_kernel_puts_them() -> None:
    assert parse(LINE) == [Drive("nvme0n1", 100, 2000, 250, 40, 800, 1000, 1200, 1400)]


def test_a_short_line_is_an_error() -> None:
    with pytest.raises(CollectorError, match="14 fields or more, got '259 0 nvme0n1 1'"):
        parse("259 0 nvme0n1 1\n")


def test_latency_is_the_mean_of_the_operations_between() -> None:
    before = Drive("a", 100, 0, 250, 40, 0, 1000, 0, 0)
    now = Drive("a", 104, 0, 270, 40, 0, 1000, 0, 0)
    assert latencies(before, now) == {
        "disk_read_latency_seconds": 0.005,
        "disk_write_latency_seconds": None,
    }


def test_counters_that_begin_anew_give_no_latency() -> None:
    before = Drive("a", 100, 0, 250, 40, 0, 1000, 0, 0)
    now = Drive("a", 101, 0, 3, 41, 0, 3, 0, 0)
    assert set(latencies(before, now).values()) == {None}


def test_captured_machine_has_one_drive_and_no_loops(captured: Host) -> None:
    found = table(Drives(captured).read(Everything()))
    assert {entity for _, entity in found} == {"disk/vda"}
    assert found["disk_read_latency_seconds", "disk/vda"] == "NOT_DUE"
    assert float(found["disk_read_bytes_total", "disk/vda"]) % 512 == 0


def test_second_reading_gives_latency_and_partitions_are_left_out(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    put("sys/block/nvme0n1/size", "1")
    put("proc/diskstats", LINE + LINE.replace("nvme0n1", "nvme0n1p1"))
    own = Drives(empty)
    own.read(Everything())
    put("proc/diskstats", LINE.replace(" 100 5 2000 250 ", " 110 5 2000 350 "))
    found = table(own.read(Everything()))
    assert {entity for _, entity in found} == {"disk/nvme0n1"}
    assert found["disk_read_latency_seconds", "disk/nvme0n1"] == 0.01
    assert found["disk_io_seconds_total", "disk/nvme0n1"] == 1.2
