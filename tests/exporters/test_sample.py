import math

import msgspec

from exporters.collector import Measurement, failed
from exporters.sample import sample


def test_a_sample_has_time_and_unit() -> None:
    own = sample(
        Measurement("node_memory_available_bytes", "node/n7", 5.0), 1_796_075_289_659_666_551
    )
    assert msgspec.json.decode(msgspec.json.encode(own)) == {
        "time": "2026-11-30T21:48:09.659Z",
        "entity": "node/n7",
        "signal": "node_memory_available_bytes",
        "value": 5.0,
        "unit": "bytes",
        "outcome": "ok",
    }


def test_a_failed_one_has_no_value() -> None:
    own = sample(failed("node_memory_available_bytes", "node/n7"), 0)
    assert (own.value, own.outcome) == (None, "failed")


def test_nan_where_it_may_be_is_kept() -> None:
    own = sample(Measurement("job_loss", "job/1", math.nan), 0)
    assert own.value is not None
    assert math.isnan(own.value)
