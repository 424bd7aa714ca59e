"""A verdict as a Finding: what was seen, what was expected, what else the entity says."""

import math

from detector.series import Block, Series
from forewarn.catalogue import Family, Movement, Signal
from forewarn.records import NANOSECONDS, Finding, Reading, Severity

MAX_READINGS = 64
LARGEST = 300.0
GRAVE_EFFECT = 3.0  # floors: from here on a learned deviation is major
MODEL_IDS: dict[Family, str] = {
    "band": "band/1", "context": "context/1", "counter": "counter/1", "peers": "peers/1",
}  # fmt: skip


def model_id(family: Family) -> str:
    """Return which model a family speaks from."""
    return MODEL_IDS.get(family, "")


def severity(family: Family, movement: Movement, effect: float) -> Severity:
    """Return the severity of a finding; an absolute limit and a forbidden count are major."""
    if movement in {"above", "below", "zero", "nonzero", "event"}:
        return "major"
    return "major" if abs(effect) >= GRAVE_EFFECT else "minor"


def readings(series: Series, entity: str) -> tuple[Reading, ...]:
    """Return the latest values of all signals of an entity (at most 64)."""
    found = []
    for slot in series.slots(entity)[:MAX_READINGS]:
        block, local = series.at(slot)
        value, seconds = series.value(slot)
        exact = finite(value)
        if exact is not None:
            at = round(seconds * NANOSECONDS)
            found.append(Reading(block.signal(local).name, entity, exact, at))
    return tuple(found)


def finite(value: float | None, digits: int = 7) -> float | None:
    """Return a value that may travel: NaN and infinities become None, float32 dust goes."""
    return float(f"{value:.{digits}g}") if value is not None and math.isfinite(value) else None


def short(value: float) -> float:
    """Return a surprise or an effect, at most 300 in size, to four digits."""
    return finite(max(-LARGEST, min(LARGEST, value)), 4) or 0.0


def text(
    signal: Signal, entity: str, observed: float, expected: float | None, twins: str = ""
) -> str:
    """Say in one line what was seen."""
    unit = "" if signal.unit in {"none", "bool", "state", "count"} else f" {signal.unit}"
    rate = "/s" if signal.kind == "counter" else ""
    said = f"{signal.name} of {entity} is {observed:.4g}{unit}{rate}"
    if twins and expected is not None:
        return f"{said}, its twins of {twins} show {expected:.4g}"
    return said if expected is None else f"{said}, expected {expected:.4g}"


def finding(
    *, id_: str, cluster: str, block: Block, local: int, family: Family, movement: Movement,
    seconds: float, observed: float, expected: float | None, low: float | None,
    high: float | None, surprise: float, effect: float, job: str, around: tuple[Reading, ...],
    twins: str = "",
) -> Finding:  # fmt: skip
    """Put a finding together; times in seconds, values in the signal's unit."""
    signal, entity, nano = block.signal(local), block.entity(local), round(seconds * NANOSECONDS)
    return Finding(
        id=id_, cluster=cluster, entity=entity, signal=signal.name, family=family,
        movement=movement, value_class="number", opened_at_unix_nano=nano,
        updated_at_unix_nano=nano, observed=finite(observed), expected=finite(expected, 6),
        low=finite(low, 6), high=finite(high, 6), unit=signal.unit, surprise=short(surprise),
        effect=short(effect), severity=severity(family, movement, effect),
        text=text(signal, entity, observed, expected, twins), job=job,
        model_id=model_id(family), readings=around,
    )  # fmt: skip
