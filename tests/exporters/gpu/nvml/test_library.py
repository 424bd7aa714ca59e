import pytest

from exporters.gpu.nvml.api import AbsentError, DriverError, Nvml
from exporters.gpu.nvml.library import RETRY_SECONDS, Library
from tests.exporters.fakes import Clock
from tests.exporters.gpu.nvml.fakes import Binding, NVMLError, nvml


def fine(binding: Binding) -> Binding:
    binding.functions = {"nvmlInit": lambda: None, "nvmlShutdown": lambda: None}
    return binding


def not_loaded() -> None:
    raise NVMLError(9)


def test_it_is_opened_once_for_all(clock: Clock) -> None:
    binding = fine(Binding())
    library = Library(lambda: nvml(binding), clock.monotonic)
    assert library.open() == library.open() == library.session(0.0)
    assert binding.asked == ["nvmlInit"]


def test_before_the_first_try_readers_are_told_to_wait(clock: Clock) -> None:
    with pytest.raises(DriverError, match="has not answered yet"):
        Library(lambda: nvml(Binding()), clock.monotonic).session(0.0)


def test_a_driver_that_is_not_loaded_is_tried_again_every_minute(clock: Clock) -> None:
    binding = Binding()
    binding.functions = {"nvmlInit": not_loaded}
    library = Library(lambda: nvml(binding), clock.monotonic)
    for _ in range(3):
        with pytest.raises(DriverError, match=r"nvmlInit: error 9\); tried again every 60 s"):
            library.open()
    assert binding.asked == ["nvmlInit"]
    fine(binding)
    clock.seconds += RETRY_SECONDS
    assert library.open().number == 1


def test_a_missing_library_is_looked_for_again(clock: Clock) -> None:
    binding = fine(Binding())
    found: list[Nvml] = []

    def load() -> Nvml:
        if not found:
            raise AbsentError("no library")
        return found[0]

    library = Library(load, clock.monotonic)
    with pytest.raises(AbsentError):
        library.open()
    found.append(nvml(binding))
    clock.seconds += RETRY_SECONDS
    assert library.open() == library.session(0.0)


def test_a_session_that_is_over_is_opened_anew_at_once(clock: Clock) -> None:
    binding = fine(Binding())
    library = Library(lambda: nvml(binding), clock.monotonic)
    first = library.open()
    library.renew(first.number)
    with pytest.raises(DriverError, match="was unloaded"):
        library.session(0.0)
    second = library.open()
    assert second.number == first.number + 1
    assert binding.asked == ["nvmlInit", "nvmlShutdown", "nvmlInit"]


def test_one_who_is_late_does_not_end_the_next_session(clock: Clock) -> None:
    library = Library(lambda: nvml(fine(Binding())), clock.monotonic)
    first = library.open()
    library.renew(first.number)
    second = library.open()
    library.renew(first.number)
    assert library.session(0.0) == second


def test_a_shutdown_that_fails_hinders_nothing(clock: Clock) -> None:
    binding = fine(Binding())
    binding.functions["nvmlShutdown"] = not_loaded
    library = Library(lambda: nvml(binding), clock.monotonic)
    library.renew(library.open().number)
    assert library.open().number == 2
