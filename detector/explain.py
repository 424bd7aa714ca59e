"""Why a verdict: what was expected of one series at one time, from which inputs, in which band."""

from collections import deque
from collections.abc import Iterable
from itertools import groupby

import msgspec
import numpy as np
from prometheus_client import CollectorRegistry

from detector.bundle import Model
from detector.engine import Engine
from detector.families import Families
from detector.families.context import FEATURES, Terms
from detector.families.contract import Score
from detector.series import Series, Wave
from forewarn.bus import Message
from forewarn.catalogue import CATALOGUE, Family
from forewarn.deadletter import DeadLetters
from forewarn.errors import ForewarnError
from forewarn.memory import MemoryBus
from forewarn.records import NANOSECONDS, Finding

SPREADS = 4.0  # the band that is drawn, as findings give it: four normal distances either side
POINTS = 100_000
WAITING_SECONDS = 900.0  # what is newer than this is not learned from yet, once a device is old


class NotJudgedError(ForewarnError):
    """No learned family judged that series at that time."""

    exit_code = 3


class Point(msgspec.Struct, frozen=True):
    """One sample; `expected`, `low` and `high` are None where the family was not ready."""

    unix_seconds: float
    observed: float
    expected: float | None
    low: float | None
    high: float | None


class Input(msgspec.Struct, frozen=True):
    """One input of an expectation: what it read, and what it adds to the expected level."""

    name: str
    value: float
    part: float


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """All there is to say of one series at one time; values in `unit`."""

    entity: str
    signal: str
    unit: str
    family: Family
    at_unix_seconds: float
    observed: float
    expected: float | None
    low: float | None
    high: float | None
    surprise: float
    """-log10 p of the sample."""
    effect: float
    """Distance in effect floors, signed."""
    inputs: tuple[Input, ...]
    learned_from_unix_seconds: float
    learned_until_unix_seconds: float
    learned_minutes: float
    model_id: str
    findings: tuple[Finding, ...]
    """Of this series, open at that time."""
    points: tuple[Point, ...]


class Watching:
    """Listens to the scores of one series, up to a time."""

    def __init__(
        self, series: Series, families: Families, entity: str, signal: str, at: float | None,
        window_seconds: float,
    ) -> None:  # fmt: skip
        self._series, self._families = series, families
        self._entity, self._signal, self._at, self._window = entity, signal, at, window_seconds
        self._points: deque[Point] = deque(maxlen=POINTS)
        self._latest: tuple[Family, Score, int] | None = None
        self._terms: Terms | None = None
        self._minutes = 0.0
        self._first: float | None = None
        self._findings: dict[str, Finding] = {}

    def __call__(self, wave: Wave, score: Score, family: Family) -> None:
        """Take a score, if it is of this series and not after the time."""
        slot = self._series.find(self._signal, self._entity)
        if slot is None or self._series.at(slot)[0] is not wave.block:
            return
        local = self._series.at(slot)[1]
        at = local if isinstance(wave.rows, slice) else _where(wave.rows == local)
        if at is None or not wave.mask[at] or not score.own[at]:
            return
        seconds = float(wave.time[at])
        if self._at is not None and seconds > self._at:
            return
        self._note(wave, score, family, at, seconds, local)

    def _note(
        self, wave: Wave, score: Score, family: Family, at: int, seconds: float, local: int
    ) -> None:
        self._first = seconds if self._first is None else self._first
        self._latest, self._terms = (family, score, at), None
        if family == "context":
            self._terms = self._families.context.terms(wave.block, local)
        else:
            self._minutes = float(self._families.band.state(wave.block).minutes[local])
        expected, width = float(score.expected[at]), SPREADS * float(score.spread[at])
        band = (expected, expected - width, expected + width) if score.ready[at] else (None,) * 3
        self._points.append(Point(seconds, float(wave.values[at]), *band))

    def found(self, findings: Iterable[Finding]) -> None:
        """Take findings, as they come."""
        for own in findings:
            late = self._at is not None and own.updated_at_unix_nano > self._at * NANOSECONDS
            if (own.entity, own.signal) == (self._entity, self._signal) and not late:
                self._findings[own.id] = own

    def explain(self, model_id: str = "") -> Explanation:
        """Return what was seen. Raises NotJudgedError."""
        if self._latest is None or self._first is None:
            raise NotJudgedError(
                f"{self._signal} of {self._entity}: no learned family judged it "
                f"{'up to that time' if self._at is not None else 'in all of it'}; limits, counts "
                "and events need no explanation beyond their finding"
            )
        family, score, at = self._latest
        last = self._points[-1]
        until = max(self._first, last.unix_seconds - WAITING_SECONDS)
        young = self._learned() * 60 < WAITING_SECONDS or family == "band"
        return Explanation(
            entity=self._entity, signal=self._signal, unit=CATALOGUE[self._signal].unit,
            family=family, at_unix_seconds=last.unix_seconds, observed=last.observed,
            expected=last.expected, low=last.low, high=last.high,
            surprise=float(score.surprise[at]), effect=float(score.effect[at]),
            inputs=self._inputs(), learned_from_unix_seconds=self._first,
            learned_until_unix_seconds=last.unix_seconds if young else until,
            learned_minutes=self._learned(), model_id=model_id,
            findings=tuple(f for f in self._findings.values() if f.closed_at_unix_nano is None),
            points=tuple(p for p in self._points
                         if p.unix_seconds >= last.unix_seconds - self._window),
        )  # fmt: skip

    def _learned(self) -> float:
        return self._minutes if self._terms is None else self._terms.minutes

    def _inputs(self) -> tuple[Input, ...]:
        terms = self._terms
        if terms is None:
            return ()
        names = {"one": "level of the device itself", "load": terms.load,
                 "around": terms.around or "air or coolant, not read",
                 "start": "load before it was first seen"}  # fmt: skip
        return tuple(
            Input(names.get(name, f"{terms.load}, {name.rpartition('_')[2]} s lag"), value, part)
            for name, value, part in zip(FEATURES, terms.values, terms.parts, strict=True)
        )


def _where(mask: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> int | None:
    at = np.flatnonzero(mask)
    return int(at[0]) if len(at) else None


def of_recording(
    messages: Iterable[Message], cluster: str, entity: str, signal: str, at: float | None,
    window_seconds: float, model: Model | None = None,
) -> Explanation:  # fmt: skip
    """Run a recording through the detector up to a time and explain one series.

    Times are Unix seconds. Raises NotJudgedError, WireError.
    """
    registry = CollectorRegistry()
    engine = Engine(cluster, registry, DeadLetters(MemoryBus().producer(), "explain", registry))
    if model is not None:
        engine.adopt(model)
    own = Watching(engine.series, engine.families, entity, signal, at, window_seconds)
    engine.listen(own)
    for second, batch in groupby(messages, lambda m: m.append_time_unix_nano // NANOSECONDS):
        own.found(engine.feed(list(batch)))
        if at is not None and second > at + 60:  # a tick closes some seconds after its time
            break
    return own.explain(model.card.model_id if model else "")
