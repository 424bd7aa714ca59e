"""Rates, restarts and outcomes; dense and thin waves give the same."""

import numpy as np

from detector.series import BLOCK, Series, measure
from forewarn.records import Outcome
from tests.detector.feed import Bench

RX = "nic_rx_bytes_total"
PORT = "node/n1/nic/mlx5_0/port/1"
CPU, NODE = "node_cpu_utilization_ratio", "node/n1"
SYMBOL = "nic_symbol_errors_total"


def _rate(bench: Bench, signal: str = RX, entity: str = PORT) -> float:
    slot = bench.engine.series.find(signal, entity)
    assert slot is not None
    return bench.engine.series.value(slot)[0]


def _after(bench: Bench, *readings: tuple[float, str]) -> float:
    for second, (value, boot) in enumerate(readings):
        bench.one(second, {(RX, PORT): value}, boot=boot)
    bench.engine.flush()
    return _rate(bench)


def test_first_sight_of_a_counter_gives_no_rate():
    assert np.isnan(_after(Bench(), (500.0, "b1")))


def test_counter_becomes_a_rate_per_second():
    assert _after(Bench(), (500.0, "b1"), (800.0, "b1")) == 300.0


def test_smaller_value_is_a_restart_and_counts_as_its_own():
    assert _after(Bench(), (500.0, "b1"), (40.0, "b1")) == 40.0


def test_interval_across_a_new_boot_is_dropped():
    assert np.isnan(_after(Bench(), (500.0, "b1"), (800.0, "b2")))


def test_delta_of_a_large_counter_is_exact():
    big = 2.0**52
    assert _after(Bench(), (big, "b1"), (big + 3, "b1")) == 3.0


def test_saturated_counter_is_failed_and_counted():
    bench = Bench()
    for second, value in enumerate((10.0, 65535.0, 65535.0)):
        bench.one(second, {(SYMBOL, PORT): value})
    bench.engine.flush()
    assert np.isnan(_rate(bench, SYMBOL))
    assert bench.metric("forewarn_samples_failed_total", reason="saturated") == 2


def test_a_wide_counter_passes_the_end_of_a_narrow_one():
    bench = Bench()
    for second, value in enumerate((65530.0, 65540.0, 65550.0)):
        bench.one(second, {(SYMBOL, PORT): value})
    bench.engine.flush()
    assert _rate(bench, SYMBOL) == 10.0


def test_outcomes_other_than_ok_are_no_values():
    bench = Bench()
    values = {(CPU, NODE): 0.5, ("node_cpu_iowait_ratio", NODE): 0.25}
    for outcome in (Outcome.NOT_DUE, Outcome.UNSUPPORTED, Outcome.FAILED):
        bench.one(int(outcome), values, outcome=bytes((outcome, Outcome.OK)))
    bench.engine.flush()
    assert np.isnan(_rate(bench, CPU, NODE))
    assert _rate(bench, "node_cpu_iowait_ratio", NODE) == 0.25
    assert bench.metric("forewarn_samples_failed_total", reason="failed") == 1


def test_blocks_grow_and_a_layout_is_not_torn_apart():
    series = Series()
    first = series.place([(CPU, f"node/a{i}") for i in range(BLOCK - 10)])
    second = series.place([(CPU, f"node/b{i}") for i in range(20)])
    assert set(first // BLOCK) == {0}
    assert set(second // BLOCK) == {1}
    assert len(series) == BLOCK + 10


def test_same_series_keeps_its_slot_in_another_layout():
    series = Series()
    one = series.place([(CPU, NODE), (RX, PORT)])
    two = series.place([(RX, PORT), (SYMBOL, PORT)])
    assert one[1] == two[0]


def test_thin_and_dense_waves_measure_alike():
    results = []
    for dense in (True, False):
        series = Series()
        series.place([(RX, f"node/n{i}/nic/mlx5_0/port/1") for i in range(6)])
        block = series.blocks[0]
        for second in range(3):
            raw = np.arange(6) * (second + 1.0)
            good, time = np.ones(6, np.bool_), np.full(6, 100.0 + second)
            rows = slice(0, 6) if dense else np.arange(6)
            wave = measure(block, rows, raw, good, time, np.zeros(6, np.bool_))
        results.append((wave.values.tolist(), wave.mask.tolist(), block.latest[:6].tolist()))
    assert results[0] == results[1]
    assert results[0][0] == [0, 1, 2, 3, 4, 5]
