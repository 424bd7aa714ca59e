import pytest

from exporters.gpu.nvml.api import (
    MEANINGS,
    AbsentError,
    Device,
    DriverError,
    LackingError,
    LostError,
    NvmlError,
    load,
)
from forewarn.records import Outcome
from tests.exporters.gpu.nvml.fakes import Binding, Value, nvml


@pytest.mark.parametrize(
    ("code", "error"),
    [(3, LackingError), (13, LackingError), (15, LostError), (9, DriverError), (999, NvmlError)],
)
def test_an_error_of_the_library_becomes_its_meaning(code: int, error: type[NvmlError]) -> None:
    binding = Binding()
    binding.error = code
    with pytest.raises(NvmlError) as caught:
        nvml(binding).ask("nvmlDeviceGetName")
    assert type(caught.value) is error


def test_a_name_that_the_binding_lacks_is_lacking() -> None:
    with pytest.raises(LackingError, match="nvidia-ml-py has no such name"):
        nvml(Binding()).make("c_nvmlNewer_t")


def test_a_field_fails_alone_but_a_lost_gpu_fails_all() -> None:
    binding = Binding()
    binding.fields = {(1, 0): 4.0}
    device = Device(nvml(binding), object())
    binding.error = 999
    outcomes = [answer.outcome for answer in device.fields([(1, 0), (2, 0)])]
    assert outcomes == [Outcome.OK, Outcome.FAILED]
    binding.error = 15
    with pytest.raises(LostError):
        device.fields([(1, 0), (2, 0)])


def test_the_value_that_means_not_available_is_unsupported() -> None:
    binding = Binding()
    value = Value(82, 0, 1.0)
    value.valueType = 1  # unsigned int
    value.value = type("union", (), {"uiVal": 0xFFFF_FFFF})
    binding._fields = lambda pairs: [value]  # type: ignore[assignment,method-assign]
    assert Device(nvml(binding), object()).fields([(82, 0)])[0].outcome is Outcome.UNSUPPORTED


def test_texts_are_empty_where_there_is_none() -> None:
    binding = Binding()
    binding.functions["nvmlDeviceGetSerial"] = lambda device: b"165\xff"
    device = Device(nvml(binding), object())
    assert (device.text("nvmlDeviceGetSerial"), device.text("nvmlDeviceGetName")) == (
        "165\ufffd",
        "",
    )


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporters.gpu.nvml.api.SONAME", "libnvidia-ml-of-nobody.so.1")
    with pytest.raises(AbsentError, match=r"no NVIDIA driver library: libnvidia-ml-of-nobody"):
        load()


def test_every_meaning_is_one_of_ours() -> None:
    assert all(issubclass(meaning, NvmlError) for meaning in MEANINGS.values())
