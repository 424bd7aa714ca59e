import pytest

from exporters.collector import CollectorError, Host
from exporters.host.pressure import Pressure, parse
from tests.exporters.fakes import Everything, table


def test_total_of_some_is_read_in_seconds() -> None:
    text = "some avg10=0.02 avg60=0.62 avg300=0.69 total=5498931\nfull avg10=0.00 total=17\n"
    assert parse(text) == 5.498931


def test_a_file_of_another_shape_is_an_error() -> None:
    with pytest.raises(CollectorError, match="no line `some"):
        parse("full avg10=0.00 total=17\n")


def test_captured_machine_gives_three_counters(captured: Host) -> None:
    found = table(Pressure(captured).read(Everything()))
    assert len(found) == 3
    assert all(isinstance(value, float) and value >= 0 for value in found.values())
    assert found["node_pressure_cpu_seconds_total", ""] > 0
