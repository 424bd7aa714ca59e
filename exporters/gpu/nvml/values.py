"""Reads a table of signals from one device: all field values in one call, each function once."""

import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from exporters.collector import Measurement
from exporters.gpu.nvml.api import (
    FAILED,
    NOT_YET,
    UNSUPPORTED,
    Answer,
    Device,
    DriverError,
    LackingError,
    LostError,
    NvmlError,
)
from exporters.gpu.nvml.gpm import Pair
from exporters.gpu.nvml.sources import Call, FieldValue, Gpm, Of, Rate, Source, field_values
from forewarn.records import Outcome

RETRY_SECONDS = 600.0  # a source that was lacking is asked again after this time


class Row(msgspec.Struct, frozen=True):
    """A signal of an entity and its sources, best first."""

    signal: str
    entity: str
    sources: tuple[Source, ...]


def rows(entity: str, table: Mapping[str, tuple[Source, ...]]) -> tuple[Row, ...]:
    """Return the rows of one entity."""
    return tuple(Row(signal, entity, sources) for signal, sources in table.items())


class Values:
    """Reads rows; remembers what the device lacks, and what rates need."""

    def __init__(
        self,
        table: Sequence[Row],
        device: Device,
        activity: Pair,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rows, self._device = table, device
        self._activity, self._monotonic = activity, monotonic
        self._first = [0] * len(table)  # the best source that is not known to be lacking
        self._retry_at = monotonic() + RETRY_SECONDS
        self._counts: dict[Rate, tuple[float, float]] = {}

    def read(self, due: Container[str]) -> list[Measurement]:
        """Read what is due. Raises LostError or DriverError."""
        self._forgive()
        round_ = _Round(self._device, self._activity, self._counts, self._monotonic())
        answers: dict[int, Answer] = {}
        wanted = [at for at, row in enumerate(self._rows) if row.signal in due]
        while wanted:
            sources = {at: self._source(at) for at in wanted}
            round_.fetch(source for source in sources.values() if source is not None)
            for at, source in sources.items():
                answer = UNSUPPORTED if source is None else round_.answer(source)
                if source is not None and answer.outcome is Outcome.UNSUPPORTED:
                    self._first[at] += 1
                else:
                    answers[at] = answer
            wanted = [at for at in wanted if at not in answers]
        return [self._measurement(at, answer) for at, answer in sorted(answers.items())]

    def _forgive(self) -> None:
        """Once in a while ask again for what was lacking."""
        if self._monotonic() >= self._retry_at:
            self._retry_at = self._monotonic() + RETRY_SECONDS
            self._first = [0] * len(self._rows)

    def _source(self, at: int) -> Source | None:
        sources = self._rows[at].sources
        return sources[self._first[at]] if self._first[at] < len(sources) else None

    def _measurement(self, at: int, answer: Answer) -> Measurement:
        row = self._rows[at]
        return Measurement(row.signal, row.entity, answer.value, answer.outcome)


class _Round:
    """One reading: what was fetched in it is not fetched twice."""

    def __init__(
        self,
        device: Device,
        activity: Pair,
        counts: dict[Rate, tuple[float, float]],
        now: float,
    ) -> None:
        self._device, self._activity, self._counts, self._now = device, activity, counts, now
        self._fields: dict[tuple[int, int], Answer] = {}
        self._results: dict[tuple[str, tuple[int, ...]], Any] = {}
        self._metrics: dict[int, Answer] | Answer | None = None

    def fetch(self, sources: Iterable[Source]) -> None:
        """Read the field values that the sources need, in one call."""
        needed = {(f.field, f.scope) for source in sources for f in field_values(source)}
        pairs = sorted(needed - self._fields.keys())
        try:
            self._fields.update(zip(pairs, self._device.fields(pairs), strict=True))
        except (LostError, DriverError):
            raise
        except NvmlError:
            self._fields.update(dict.fromkeys(pairs, FAILED))

    def answer(self, source: Source) -> Answer:
        """Return what one source says. Raises LostError or DriverError."""
        match source:
            case FieldValue():
                return _scaled(self._fields[source.field, source.scope], source.factor)
            case Call():
                return self._call(source)
            case Gpm():
                return self._gpm(source)
            case Rate():
                return self._rate(source)
        return self._made(source)

    def _call(self, call: Call) -> Answer:
        key = (call.function, call.arguments)
        if key not in self._results:
            self._results[key] = self._ask(call)
        result = self._results[key]
        if isinstance(result, Answer):
            return result
        return Answer(float(_part(result, call.part)) * call.factor)

    def _ask(self, call: Call) -> Any:
        try:
            return self._device.ask(call.function, *call.arguments)
        except (LostError, DriverError):
            raise
        except LackingError:
            return UNSUPPORTED
        except NvmlError:
            return FAILED

    def _gpm(self, source: Gpm) -> Answer:
        if self._metrics is None:
            self._metrics = self._sample()
        if isinstance(self._metrics, Answer):
            return self._metrics
        return _scaled(self._metrics[source.metric], source.factor)

    def _sample(self) -> dict[int, Answer] | Answer:
        try:
            return self._activity.read()
        except (LostError, DriverError):
            raise
        except LackingError:
            return UNSUPPORTED
        except NvmlError:
            return FAILED

    def _rate(self, rate: Rate) -> Answer:
        """Return the rise since the last reading; none at first sight or after a restart."""
        answer = self.answer(rate.of)
        if answer.outcome is not Outcome.OK:
            return answer
        before = self._counts.get(rate)
        self._counts[rate] = (answer.value, self._now)
        if before is None or answer.value < before[0] or self._now <= before[1]:
            return NOT_YET
        return Answer((answer.value - before[0]) / (self._now - before[1]))

    def _made(self, source: Of) -> Answer:
        answers = [self.answer(part) for part in source.parts]
        # Lacking beats failed: another source may have it.
        for outcome in (UNSUPPORTED, FAILED):
            if any(answer.outcome is outcome.outcome for answer in answers):
                return outcome
        return Answer(source.function(*(answer.value for answer in answers)))


def _scaled(answer: Answer, factor: float) -> Answer:
    return Answer(answer.value * factor, answer.outcome)


def _part(result: Any, part: str | int) -> float:
    if isinstance(part, int):
        return float(result[part])
    return float(getattr(result, part) if part else result)
