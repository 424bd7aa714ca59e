"""A binding without a library: functions and fields by hand."""

from collections.abc import Callable, Sequence
from typing import Any

from exporters.gpu.nvml.api import Nvml


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


class Value:
    def __init__(self, field: int, scope: int, number: float | None, error: int = 0) -> None:
        self.fieldId, self.scopeId, self.valueType = field, scope, 0
        self.nvmlReturn = error if number is None else 0
        self.value = type("union", (), {"dVal": number or 0.0})


class Binding:
    """Answers from tables; what is in neither is NOT_SUPPORTED. Keeps what was asked."""

    NVMLError = NVMLError

    def __init__(self) -> None:
        self.fields: dict[tuple[int, int], float] = {}
        self.functions: dict[str, Callable[..., Any]] = {}
        self.asked: list[str] = []
        self.error = 3

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith(("__", "c_")):
            raise AttributeError(name)
        return lambda *args: self._answer(name, args)

    def _answer(self, name: str, args: tuple[Any, ...]) -> Any:
        self.asked.append(name)
        if name == "nvmlDeviceGetFieldValues":
            return self._fields(args[1])
        if name not in self.functions:
            raise NVMLError(self.error)
        return self.functions[name](*args)

    def _fields(self, pairs: Sequence[tuple[int, int]]) -> list[Value]:
        return [Value(f, s, self.fields.get((f, s)), self.error) for f, s in pairs]


def nvml(binding: Binding) -> Nvml:
    """Return the door to a fake binding."""
    return Nvml(binding)
