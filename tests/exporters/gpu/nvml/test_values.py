import operator

import pytest

from exporters.gpu.nvml.api import Device, DriverError, LostError
from exporters.gpu.nvml.gpm import Pair
from exporters.gpu.nvml.sources import Call, FieldValue, Gpm, Of, Rate, Source, total
from exporters.gpu.nvml.values import RETRY_SECONDS, Values, rows
from forewarn.records import Outcome
from tests.exporters.fakes import Clock, Everything, table
from tests.exporters.gpu.nvml.fakes import Binding, NVMLError, nvml

SIGNAL = "gpu_temperature_celsius"
GPU = "gpu/0000:1a:00.0"


def values(binding: Binding, clock: Clock, *sources: Source, **more: Source) -> Values:
    device = Device(nvml(binding), object())
    signals = {SIGNAL: sources, **{signal: (source,) for signal, source in more.items()}}
    pair = Pair(device, lambda sample: None)
    return Values(rows(f"node/n7/{GPU}", signals), device, pair, clock.monotonic)


def reading(own: Values) -> float | str:
    return table(own.read(Everything()))[SIGNAL, GPU]


def test_all_field_values_come_from_one_call(clock: Clock) -> None:
    binding = Binding()
    binding.fields = {(1, 0): 7.0, (2, 0): 8000.0, (3, 4): 5.0}
    own = values(
        binding, clock, FieldValue(1), gpu_power_watts=FieldValue(2, 1e-3),
        gpu_ecc_enabled=Of(operator.add, (FieldValue(1), FieldValue(3, scope=4))),
    )  # fmt: skip
    assert table(own.read(Everything())) == {
        (SIGNAL, GPU): 7.0, ("gpu_power_watts", GPU): 8.0, ("gpu_ecc_enabled", GPU): 12.0,
    }  # fmt: skip
    assert binding.asked == ["nvmlDeviceGetFieldValues"]


def test_a_function_is_called_once_for_all_its_parts(clock: Clock) -> None:
    binding = Binding()
    binding.functions["pair"] = lambda device: (3, 9)
    own = values(binding, clock, Call("pair", (), 0), gpu_power_watts=Call("pair", (), 1))
    assert table(own.read(Everything())) == {(SIGNAL, GPU): 3.0, ("gpu_power_watts", GPU): 9.0}
    assert binding.asked == ["pair"]


def test_the_next_source_is_taken_where_one_is_lacking_and_it_is_remembered(clock: Clock) -> None:
    binding = Binding()
    binding.functions["second"] = lambda device: 5
    own = values(binding, clock, Call("first"), FieldValue(1), Call("second"))
    assert reading(own) == reading(own) == 5.0
    assert binding.asked == ["first", "nvmlDeviceGetFieldValues", "second", "second"]


def test_what_was_lacking_is_asked_again_rarely(clock: Clock) -> None:
    binding = Binding()
    own = values(binding, clock, Call("first"))
    assert [reading(own), reading(own)] == ["UNSUPPORTED", "UNSUPPORTED"]
    assert binding.asked == ["first"]
    binding.functions["first"] = lambda device: 1
    clock.seconds += RETRY_SECONDS
    assert reading(own) == 1.0


def test_what_fails_now_is_failed_and_not_replaced(clock: Clock) -> None:
    binding = Binding()
    binding.error = 999
    binding.functions["second"] = lambda device: 5
    assert reading(values(binding, clock, Call("first"), Call("second"))) == "FAILED"
    assert reading(values(binding, clock, FieldValue(1), Call("second"))) == "FAILED"
    assert reading(values(binding, clock, total(1, 2), Call("second"))) == "FAILED"  # type: ignore[arg-type]


@pytest.mark.parametrize(("code", "error"), [(15, LostError), (9, DriverError), (1, DriverError)])
def test_a_lost_device_or_driver_ends_the_reading(
    clock: Clock, code: int, error: type[Exception]
) -> None:
    binding = Binding()
    binding.error = code
    for source in (Call("first"), FieldValue(1), Gpm(2)):
        with pytest.raises(error):
            values(binding, clock, source).read(Everything())


def test_a_rate_is_the_rise_per_second_and_starts_anew_after_a_restart(clock: Clock) -> None:
    binding = Binding()
    own = values(binding, clock, Rate(FieldValue(1, 1024.0)))
    found = []
    for count in (10.0, 30.0, 5.0, 6.0):
        binding.fields = {(1, 0): count}
        found.append(reading(own))
        clock.seconds += 2
    assert found == ["NOT_DUE", 10240.0, "NOT_DUE", 512.0]


def test_only_what_is_due_is_read(clock: Clock) -> None:
    own = values(Binding(), clock, Call("first"))
    assert own.read({"gpu_power_watts"}) == []


def test_readings_keep_the_order_of_the_table(clock: Clock) -> None:
    binding = Binding()
    binding.functions["first"] = lambda device: 5
    own = values(binding, clock, Call("none"), Call("first"), gpu_power_watts=Call("first"))
    assert [m.signal for m in own.read(Everything())] == [SIGNAL, "gpu_power_watts"]
    assert {m.outcome for m in own.read(Everything())} == {Outcome.OK}


def test_the_error_of_a_call_names_it() -> None:
    binding = Binding()
    binding.error = 999
    with pytest.raises(Exception, match=r"^nvmlInit: error 999$"):
        nvml(binding).ask("nvmlInit")
    assert isinstance(NVMLError(3), Exception)
