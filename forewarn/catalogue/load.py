"""Reads signals.csv and refuses a catalogue that contradicts itself."""

import csv
import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from forewarn.catalogue.signal import Bad, Floor, Kind, Signal, plain_gauge
from forewarn.errors import CatalogueError, UnknownSignalError
from forewarn.language import Text

PATH = Path(__file__).with_name("signals.csv")
COLUMNS = tuple(
    "name alias number kind layer entity unit period_s bad floor quantum may_be_nan "
    "saturates_at context peers otel help_en help_zh".split()
)
ENTITIES = frozenset(
    "gpu nic_port node disk mount storage_target switch switch_port pcie_switch rack pdu "
    "psu cdu facility job rank queue cluster serving_replica agent".split()
)
PEERS = frozenset({"node", "job.stage", "rack", "model", "loop"})
PERIODS = frozenset({1, 10, 60})
SUFFIX_UNITS = frozenset(
    "celsius watts joules seconds bytes ratio hertz volts amperes pascals decibels rpm "
    "bytes_per_second liters_per_second tokens_per_second samples_per_second "
    "flops_per_second joules_per_token joules_per_step kelvin_per_watt".split()
)
BARE_UNITS = frozenset({"count", "bool", "state", "none", "code"})
_METRIC = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
_EVENT = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


class Catalogue(Mapping[str, Signal]):
    """All signals by name; `resolve` also takes an alias."""

    def __init__(self, signals: Mapping[str, Signal]) -> None:
        self._own = dict(signals)
        self._signals = MappingProxyType(self._own)
        self._aliases = {alias: s for s in signals.values() for alias in s.aliases}

    def __getitem__(self, name: str) -> Signal:
        return self._signals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def admit(self, name: str) -> Signal:
        """Take a signal that nobody described, as a plain gauge: no unit, no limit, no bad side.

        For this process, and before anything counts signals; one that is known stays as it is.
        """
        return self._own.setdefault(name, plain_gauge(name))

    def resolve(self, name: str) -> Signal:
        """Return the signal called `name`, by name or alias.

        Raises:
            UnknownSignalError: naming the nearest known names.

        """
        found = self._signals.get(name) or self._aliases.get(name)
        if found is None:
            known = [*self._signals, *self._aliases]
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise UnknownSignalError(f"unknown signal {name!r}{hint}")
        return found


def load(path: Path = PATH) -> Catalogue:
    """Read and check the catalogue.

    Raises:
        CatalogueError: listing every contradiction with its file and line.

    """
    signals: dict[str, Signal] = {}
    lines: dict[str, int] = {}
    problems: list[tuple[int, str]] = []
    for line, row in _rows(path):
        try:
            signal = _signal(row)
        except ValueError as error:
            problems.append((line, f"{row['name']}: {error}"))
            continue
        problems += [(line, text) for text in _check(signal, signals)]
        signals.setdefault(signal.name, signal)
        lines.setdefault(signal.name, line)
    problems += [(lines[name], text) for name, text in _check_references(signals)]
    if problems:
        ordered = sorted(problems, key=lambda problem: problem[0])
        raise CatalogueError("\n".join(f"{path.name}:{line}: {text}" for line, text in ordered))
    return Catalogue(signals)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle, strict=True)
        try:
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise CatalogueError(f"{path.name}:1: columns must be {','.join(COLUMNS)}")
            for row in reader:
                if None in row or None in row.values():
                    raise CatalogueError(f"{path.name}:{reader.line_num}: wrong number of fields")
                yield reader.line_num, row
        except csv.Error as error:
            raise CatalogueError(f"{path.name}:{reader.line_num + 1}: {error}") from error


def _items(field: str, separator: str = ";") -> tuple[str, ...]:
    return tuple(item for item in field.split(separator) if item and item != "none")


def _number(field: str) -> float | None:
    return float(field) if field else None


def _yes(field: str) -> bool:
    if field not in {"yes", "no"}:
        raise ValueError(f"may_be_nan {field!r} is neither yes nor no")
    return field == "yes"


def _signal(row: dict[str, str]) -> Signal:
    return Signal(
        name=row["name"],
        aliases=_items(row["alias"]),
        number=row["number"],
        kind=Kind(row["kind"]),
        layer=row["layer"],
        entity=row["entity"],
        unit=row["unit"],
        period_seconds=int(row["period_s"]),
        bad=Bad(row["bad"]),
        floor=Floor.parse(row["floor"]),
        quantum=_number(row["quantum"]),
        may_be_nan=_yes(row["may_be_nan"]),
        saturates_at=_number(row["saturates_at"]),
        context=_items(row["context"]),
        peers=_items(row["peers"], ","),
        otel=row["otel"],
        help=Text(en=row["help_en"], zh=row["help_zh"]),
    )


def unit_of(name: str) -> str | None:
    """Return the unit that a metric's name ends in, or None for a bare one."""
    stem = name.removesuffix("_total")
    endings = [unit for unit in SUFFIX_UNITS if stem.endswith("_" + unit)]
    return max(endings, key=len, default=None)


def _check(signal: Signal, known: Mapping[str, Signal]) -> Iterator[str]:
    """Yield what is wrong in one row by itself."""
    name = signal.name
    if name in known:
        yield f"{name} stands twice"
    if signal.entity not in ENTITIES:
        yield f"{name}: unknown entity {signal.entity!r}"
    if signal.period_seconds not in PERIODS:
        yield f"{name}: period_s must be one of {sorted(PERIODS)}"
    if unknown := set(signal.peers) - PEERS:
        yield f"{name}: unknown peers {sorted(unknown)}"
    if not signal.help.en or not signal.help.zh:
        yield f"{name}: help is missing in one language"
    yield from _check_name(signal)
    yield from _check_kind(signal)


def _check_name(signal: Signal) -> Iterator[str]:
    name, unit = signal.name, signal.unit
    pattern = _METRIC if signal.is_metric else _EVENT
    if not pattern.fullmatch(name):
        yield f"{name} is no {'metric' if signal.is_metric else 'event'} name"
    if unit not in SUFFIX_UNITS | BARE_UNITS:
        yield f"{name}: unknown unit {unit!r}"
    elif signal.is_metric and unit_of(name) != (unit if unit in SUFFIX_UNITS else None):
        yield f"{name}: unit {unit!r} is not the one its name ends in"


def _check_kind(signal: Signal) -> Iterator[str]:
    name, is_counter = signal.name, signal.kind is Kind.COUNTER
    if signal.is_metric and name.endswith("_total") != is_counter:
        yield f"{name}: counters, and only they, end in _total"
    if not signal.is_metric and signal.unit != "code":
        yield f"{name}: the unit of an event is code"
    if signal.floor and signal.floor.per_second and not is_counter:
        yield f"{name}: only a counter has a limit per second"
    if signal.saturates_at is not None and not is_counter:
        yield f"{name}: only a counter saturates"


def _check_references(signals: Mapping[str, Signal]) -> Iterator[tuple[str, str]]:
    """Yield (signal, what is wrong) where rows do not fit together."""
    seen = {name: name for name in signals}
    for name, signal in signals.items():
        for alias in signal.aliases:
            if seen.setdefault(alias, name) != name:
                yield name, f"alias {alias} names both {seen[alias]} and {name}"
        for other in signal.context:
            if other not in signals:
                yield name, f"{name}: refers to {other}, which is no signal"
        yield from ((name, text) for text in _check_device(signal, signals))


def _check_device(signal: Signal, signals: Mapping[str, Signal]) -> Iterator[str]:
    device = signal.floor.device if signal.floor else None
    if device and device not in signals:
        yield f"{signal.name}: its limit {device} is no signal"
    elif device and signals[device].entity != signal.entity:
        yield f"{signal.name}: its limit {device} stands at another kind of entity"
