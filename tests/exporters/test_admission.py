import logging
import math

import pytest

from exporters.admission import Admission
from exporters.collector import Measurement
from forewarn.records import Outcome

SIGNAL = "disk_io_seconds_total"


def series(count: int, signal: str = SIGNAL) -> list[Measurement]:
    return [Measurement(signal, f"node/n7/disk/d{n}", 1.0) for n in range(count)]


def test_a_node_with_50_000_series_is_cut_at_20_000_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = Admission()
    assert len(own.admit("agent", series(10, "agent_up"))) == 10
    for round_ in (1, 2):
        assert len(own.admit("big", series(50_000))) == 19_990
        assert own.dropped == round_ * 30_010
    assert [r.levelno for r in caplog.records] == [logging.ERROR]
    assert "more than 20000 series on this node" in caplog.text


def test_signals_that_are_not_due_keep_their_place() -> None:
    own = Admission(limit=10)
    own.admit("a", series(4) + series(4, "disk_read_bytes_total"))
    own.admit("a", series(4))
    assert len(own.admit("b", series(5, "disk_write_bytes_total"))) == 2


def test_series_that_are_gone_make_room() -> None:
    own = Admission(limit=10)
    own.admit("a", series(8))
    own.admit("a", series(3))
    assert len(own.admit("b", series(9, "disk_read_bytes_total"))) == 7


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_may_not_be_has_failed(
    value: float, caplog: pytest.LogCaptureFixture
) -> None:
    own = Admission()
    for _ in range(2):
        (m,) = own.admit("a", [Measurement(SIGNAL, "node/n7/disk/d0", value)])
        assert m.outcome is Outcome.FAILED
        assert math.isnan(m.value)
    assert len(caplog.records) == 1


def test_a_loss_may_be_nan() -> None:
    (m,) = Admission().admit("a", [Measurement("job_loss", "job/1", math.nan)])
    assert m.outcome is Outcome.OK
