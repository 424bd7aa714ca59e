from collections.abc import Callable

import pytest

from exporters.collector import CollectorError, Host
from exporters.host.processor import Processor, Times, parse, shares
from tests.exporters.fakes import Everything, table

BEFORE = Times(total=1000, idle=800, iowait=50, steal=10)


def test_first_line_of_stat_is_read() -> None:
    times = parse("cpu  10 20 30 400 50 6 7 8 99 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n")
    assert times == Times(total=531, idle=400, iowait=50, steal=8)


@pytest.mark.parametrize("text", ["", "intr 1 2 3 4 5 6 7 8 9\n", "cpu 1 2 3\n"])
def test_another_shape_is_an_error(text: str) -> None:
    with pytest.raises(CollectorError, match="stat: expected `cpu`"):
        parse(text)


def test_shares_are_of_the_time_between() -> None:
    now = Times(total=1200, idle=900, iowait=70, steal=20)
    found = shares(BEFORE, now)
    assert found["node_cpu_utilization_ratio"] == pytest.approx(0.4)
    assert found["node_cpu_iowait_ratio"] == pytest.approx(0.1)
    assert found["node_cpu_steal_ratio"] == pytest.approx(0.05)


def test_iowait_that_steps_back_is_none() -> None:
    now = Times(total=1100, idle=900, iowait=40, steal=10)
    found = shares(BEFORE, now)
    assert found["node_cpu_iowait_ratio"] == 0
    assert found["node_cpu_utilization_ratio"] == 0


def test_no_time_passed_gives_no_share() -> None:
    assert shares(BEFORE, BEFORE) == {}


def test_each_signal_covers_the_time_since_it_was_last_due(
    empty: Host, put: Callable[[str, str], None]
) -> None:
    own = Processor(empty)
    put("proc/stat", "cpu 0 0 0 100 0 0 0 0 0 0\n")
    assert set(table(own.read(Everything())).values()) == {"NOT_DUE"}
    put("proc/stat", "cpu 100 0 0 100 0 0 0 0 0 0\n")
    assert table(own.read({"node_cpu_utilization_ratio"})) == {
        ("node_cpu_utilization_ratio", ""): 1.0
    }
    put("proc/stat", "cpu 100 0 0 200 0 0 0 100 0 0\n")
    found = table(own.read(Everything()))
    assert found["node_cpu_utilization_ratio", ""] == 0.5  # 200 ticks since the second reading
    assert found["node_cpu_steal_ratio", ""] == pytest.approx(1 / 3)  # 300 since the first
