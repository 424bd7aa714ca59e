"""What a signal is read from: a field value, a function, a GPM metric, a rate, or made of those."""

from collections.abc import Callable

import msgspec

from exporters.gpu.nvml.fields import Field


class FieldValue(msgspec.Struct, frozen=True):
    """A field value times `factor`."""

    field: int
    factor: float = 1.0
    scope: int = 0


class Call(msgspec.Struct, frozen=True):
    """What a function of NVML returns (or `part` of it: a member or an index) times `factor`."""

    function: str
    arguments: tuple[int, ...] = ()
    part: str | int = ""
    factor: float = 1.0


class Gpm(msgspec.Struct, frozen=True):
    """A metric of GPM (Hopper and later), over the time since the last reading."""

    metric: int
    factor: float = 0.01


class Rate(msgspec.Struct, frozen=True):
    """The rise per second of a field value that counts."""

    of: FieldValue


class Of(msgspec.Struct, frozen=True):
    """A function of other sources; it is there where all of them are."""

    function: Callable[..., float]
    parts: tuple[FieldValue | Call, ...]


Source = FieldValue | Call | Gpm | Rate | Of


def total(*fields: Field, factor: float = 1.0) -> Of:
    """Return the sum of fields."""
    return Of(_sum, tuple(FieldValue(field, factor) for field in fields))


def _sum(*values: float) -> float:
    return sum(values)


def field_values(source: Source) -> tuple[FieldValue, ...]:
    """Return the field values that a source needs."""
    match source:
        case FieldValue():
            return (source,)
        case Rate():
            return (source.of,)
        case Of():
            return tuple(part for part in source.parts if isinstance(part, FieldValue))
    return ()
