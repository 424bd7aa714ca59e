"""Error counters: growth beyond expectation, and those that may never rise."""

import numpy as np

from tests.detector.feed import Bench

PORT = "node/n1/nic/mlx5_0/port/1"
SYMBOLS = ("nic_symbol_errors_total", PORT)
DOWNED = ("nic_link_downed_total", PORT)
ECC = ("gpu_ecc_uncorrected_errors_total", "node/n1/gpu/0000:1a:00.0")


class Errors:
    """A counter read every ten seconds that rises by a given mean."""

    def __init__(self, pair: tuple[str, str] = SYMBOLS) -> None:
        self.bench, self.pair, self.total, self.now = Bench(), pair, 100.0, 0
        self.random = np.random.default_rng(7)

    def rise(self, windows: int, mean: float):
        found = []
        for _ in range(windows):
            self.total += float(self.random.poisson(mean))
            found += self.bench.one(self.now, {self.pair: self.total})
            self.now += 10
        return found


def test_background_of_single_errors_is_quiet():
    assert Errors().rise(600, 0.05) == []


def test_errors_that_come_fast_grow():
    own = Errors()
    own.rise(60, 0.02)
    found = own.rise(8, 40.0)
    assert [(f.signal, f.movement, f.family) for f in found[:1]] == [
        (SYMBOLS[0], "grows", "counter")
    ]
    assert found[0].surprise > 10


def test_one_burst_is_no_growth():
    own = Errors()
    own.rise(60, 0.02)
    assert own.rise(1, 40.0) == []
    assert own.rise(60, 0.02) == []


def test_growth_is_told_from_a_cold_start():
    assert Errors().rise(10, 40.0)


def test_steady_rate_that_was_learned_is_normal():
    own = Errors()
    own.rise(1, 0.0)
    own.rise(360, 6.0)
    assert [f for f in own.rise(360, 6.0) if f.seq == 1] == []


class Traffic:
    """A port whose errors come with what passes through it."""

    def __init__(self) -> None:
        self.bench, self.errors, self.bytes, self.now = Bench(), 0.0, 0.0, 0
        self.random = np.random.default_rng(11)

    def windows(self, count: int, bytes_per_second: float, errors_per_gigabyte: float,
                read: bool = True):  # fmt: skip
        found = []
        for _ in range(count):
            self.bytes += 10 * bytes_per_second
            self.errors += self.random.poisson(errors_per_gigabyte * bytes_per_second / 1e8)
            known = {("nic_rx_bytes_total", PORT): self.bytes} if read else {}
            found += self.bench.one(self.now, {SYMBOLS: self.errors, **known})
            self.now += 10
        return [own for own in found if own.family == "counter"]


def test_errors_that_come_with_more_bytes_are_no_growth():
    own = Traffic()
    own.windows(180, 1e8, 6.0)
    assert own.windows(30, 8e8, 6.0) == []


def test_without_bytes_as_many_errors_grow():
    own = Traffic()
    own.windows(180, 1e8, 6.0, read=False)
    assert own.windows(30, 8e8, 6.0, read=False)


def test_more_errors_per_byte_grow_while_less_passes():
    own = Traffic()
    own.windows(180, 1e8, 6.0)
    assert own.windows(12, 5e7, 120.0)


def test_counter_that_may_never_rise_is_an_event_at_once():
    bench = Bench()
    bench.run(range(4), {ECC: 2.0})
    found = bench.run(range(4, 6), {ECC: 3.0})
    assert [(f.signal, f.movement, f.severity) for f in found] == [(ECC[0], "event", "major")]
    assert found[0].observed == 1.0


def test_old_errors_at_first_sight_are_no_event():
    assert Bench().run(range(10), {ECC: 50.0}) == []


def test_reset_of_a_counter_is_no_error():
    bench = Bench()
    bench.run(range(4), {DOWNED: 9.0})
    assert bench.run(range(4, 8), {DOWNED: 0.0}) == []


def test_reboot_is_no_growth():
    bench = Bench()
    bench.run(range(4), {DOWNED: 0.0})
    found = bench.run(range(4, 8), {DOWNED: 3.0}, boot="b2")
    assert [f.code for f in found] == ["node.boot_id:changed"]
