import numpy as np
import pytest

from simulator.fleet import Floats, Machines
from simulator.gpu import HW_SLOWDOWN, HW_THERMAL, IDLE, POWER_CAP, Gpus
from simulator.knobs import Knobs
from simulator.load import Load
from simulator.scenario import Fleet

MACHINES = Machines(Fleet(nodes=4))
INLET: Floats = np.full(len(MACHINES.gpus), 25.0)


class Bench:
    """GPUs under a load of one's choice, in air of 25 celsius."""

    def __init__(self, share: float = 0.0) -> None:
        self.load, self.knobs = Load(MACHINES), Knobs(MACHINES, ())
        self.gpus = Gpus(MACHINES, INLET, seed=3)
        self.use(share)

    def use(self, share: float) -> None:
        self.load.power[:] = share
        self.load.allocated[:] = share > 0

    def run(self, seconds: int) -> Floats:
        history = []
        for _ in range(seconds):
            self.gpus.advance(self.load, INLET, self.knobs)
            history.append(self.gpus.celsius.copy())
        return np.array(history)


def test_idle_and_training_power_are_those_of_the_part() -> None:
    bench = Bench()
    bench.run(300)
    assert np.all((bench.gpus.watts > 60) & (bench.gpus.watts < 100))
    bench.use(0.93)
    bench.run(300)
    assert np.all((bench.gpus.watts > 550) & (bench.gpus.watts < 700))


def test_more_load_is_hotter_on_every_gpu() -> None:
    levels = []
    for share in (0.0, 0.3, 0.6, 0.9):
        bench = Bench(share)
        levels.append(bench.run(900)[-60:].mean(axis=0))
    assert np.all(np.diff(np.array(levels), axis=0) > 5)


def test_hotter_air_is_hotter_by_as_much_and_by_what_leaks_more() -> None:
    cool, warm = Bench(), Bench()
    for _ in range(600):
        cool.gpus.advance(cool.load, INLET, cool.knobs)
        warm.gpus.advance(warm.load, INLET + 5.0, warm.knobs)
    hotter = warm.gpus.celsius - cool.gpus.celsius
    assert np.all((hotter > 5.0) & (hotter < 5.5))


def test_step_of_load_rises_with_the_time_constants_of_the_sink() -> None:
    bench = Bench()
    bench.run(1500)
    bench.use(0.9)
    history = bench.run(1500)
    rise = (history - history[0]) / (history[-100:].mean(axis=0) - history[0])
    at = {seconds: float(rise[seconds].mean()) for seconds in (10, 40, 150, 600)}
    # 0.36 of the path answers in seconds, 0.35 in 40 s and 0.33 in 150 s.
    assert at[10] < 0.6
    assert 0.45 < at[40] < 0.75
    assert 0.78 < at[150] < 0.95
    assert at[600] > 0.97


def test_good_paste_never_throttles_in_training() -> None:
    bench = Bench(1.0)
    assert bench.run(1200).max() < MACHINES.models[0].limit_celsius
    assert not bench.gpus.slowed_seconds.any()


def test_bad_paste_throttles_at_the_limit_and_only_that_gpu() -> None:
    bench = Bench(0.93)
    bench.run(600)
    bench.knobs.paste[5] = 6.0
    hardware, slowed = MACHINES.models[0], np.zeros(len(INLET), dtype=bool)
    for _ in range(300):
        was_hot = bench.gpus.celsius[5] >= hardware.limit_celsius - hardware.slowdown_margin_celsius
        bench.run(1)
        if was_hot:
            assert bench.gpus.slowed[5]
        slowed |= bench.gpus.slowed
    assert list(np.flatnonzero(slowed)) == [5]


def test_throttled_gpu_runs_slower_cooler_and_says_so() -> None:
    bench = Bench(0.93)
    bench.run(300)
    watts, speed = float(bench.gpus.watts[2]), float(bench.gpus.speed()[2])
    bench.knobs.paste[2] = 6.0
    for _ in range(300):
        if bench.gpus.slowed[2]:
            break
        bench.run(1)
    readings = {name: own[2] for name, own in bench.gpus.readings(bench.load).items()}
    assert bench.gpus.speed()[2] == pytest.approx(0.55 * speed)
    assert bench.gpus.watts[2] < 0.5 * watts
    assert readings["gpu_core_clock_hertz"] < 0.6 * MACHINES.models[0].clock_train_hertz
    assert int(readings["gpu_clock_event_reasons"]) == HW_THERMAL | HW_SLOWDOWN
    assert readings["gpu_throttle_thermal_seconds_total"] == 1


def test_power_limit_holds_and_is_told_as_power_cap() -> None:
    bench = Bench(1.25)
    bench.run(300)
    limit = MACHINES.models[0].power_limit_watts
    assert bench.gpus.watts.max() <= limit + 1e-6
    reasons = bench.gpus.readings(bench.load)["gpu_clock_event_reasons"].astype(int)
    assert np.all(reasons & POWER_CAP)
    assert np.all(bench.gpus.speed() < 1.02)


def test_idle_gpu_says_idle() -> None:
    bench = Bench()
    bench.run(5)
    readings = bench.gpus.readings(bench.load)
    assert np.all(readings["gpu_clock_event_reasons"] == IDLE)
    assert np.all(readings["gpu_core_clock_hertz"] == MACHINES.models[0].clock_idle_hertz)


def test_devices_of_one_model_differ() -> None:
    bench = Bench(0.93)
    spread = bench.run(1200)[-60:].mean(axis=0).std()
    assert 0.4 < spread < 4.0


def test_driver_reload_begins_volatile_counters_of_that_node_only() -> None:
    bench = Bench(0.93)
    bench.run(10)
    before = bench.gpus.energy.copy()
    own = MACHINES.gpus_of(1)
    bench.gpus.reload_driver(own)
    assert np.all(bench.gpus.energy[own] == 0)
    others = np.ones(len(before), dtype=bool)
    others[own] = False
    assert np.array_equal(bench.gpus.energy[others], before[others])
