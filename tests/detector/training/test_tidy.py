"""Tables of strangers: times of every kind, rows of no use counted, errors that name the place."""

import numpy as np
import pandas as pd
import pytest

from detector.training.tidy import TidyError, instants, read

GPU = "node/n1/gpu/0000:1b:00.0"
HEAD = "time,entity,signal,value\n"


def write(path, text):
    path.write_text(HEAD + text)
    return path


@pytest.mark.parametrize(
    "time", ["1767225600", "1767225600000", "1767225600000000000", "2026-01-01T00:00:00Z",
             "2026-01-01 00:00:00+00:00"],
)  # fmt: skip
def test_times_are_read_as_unix_seconds(tmp_path, time):
    rows = read(write(tmp_path / "a.csv", f"{time},{GPU},gpu_power_watts,300\n"))
    assert rows.seconds.tolist() == [1767225600.0]


def test_rows_are_sorted_by_time_and_named(tmp_path):
    text = (f"20,{GPU},gpu_power_watts,2\n10,{GPU},gpu_power_watts,1\n"
            f"10,node/n1,node_power_watts,900\n")  # fmt: skip
    rows = read(write(tmp_path / "a.csv", text))
    seen = [(s, rows.names[w], v) for s, w, v in
            zip(rows.seconds, rows.which, rows.values, strict=True)]  # fmt: skip
    assert seen == [
        (10.0, ("gpu_power_watts", GPU), 1.0), (10.0, ("node_power_watts", "node/n1"), 900.0),
        (20.0, ("gpu_power_watts", GPU), 2.0),
    ]  # fmt: skip


def test_rows_of_no_use_are_counted_and_left_out(tmp_path):
    text = (f"10,{GPU},gpu_power_watts,nan\n10,{GPU},gpu_power_watts,inf\n"
            f",{GPU},gpu_power_watts,1\n"
            f"10,{GPU},fancy_metric,1\n10,{GPU},gpu_power_watts,text\n10,,gpu_power_watts,1\n"
            f"10,{GPU},gpu_power_watts,5\n")  # fmt: skip
    rows = read(write(tmp_path / "a.csv", text))
    assert (rows.values.tolist(), rows.unusable, rows.unknown) == ([5.0], 5, {"fancy_metric": 1})


def test_of_two_readings_in_one_second_the_last_stays(tmp_path):
    text = (
        f"10.1,{GPU},gpu_power_watts,1\n10.9,{GPU},gpu_power_watts,2\n11,{GPU},gpu_power_watts,3\n"
    )
    found = list(instants(read(write(tmp_path / "a.csv", text))))
    assert [(own.second, own.values.tolist()) for own in found] == [(10, [2.0]), (11, [3.0])]


def test_table_without_a_column_is_refused_by_its_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time,entity,value\n1,a,2\n")
    with pytest.raises(TidyError, match=r"a\.csv: has no column signal"):
        read(path)


def test_what_is_no_table_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"no parquet at all")
    with pytest.raises(TidyError, match=r"a\.parquet"):
        read(path)


def test_parquet_says_the_same_as_csv(tmp_path):
    pytest.importorskip("pyarrow")
    text = f"1767225600,{GPU},gpu_power_watts,1\n1767225660,{GPU},gpu_power_watts,2\n"
    one = read(write(tmp_path / "a.csv", text))
    pd.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    two = read(tmp_path / "a.parquet")
    assert one.names == two.names
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.seconds, two.seconds)
