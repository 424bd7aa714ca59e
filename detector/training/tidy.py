"""Tidy tables: Parquet or CSV with the columns `time, entity, signal, value`, one reading a row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forewarn.catalogue import CATALOGUE
from forewarn.errors import ForewarnError

COLUMNS = ["time", "entity", "signal", "value"]
# Whole numbers of time since 1970 are seconds up to here, then milli-, micro- and nanoseconds.
UNITS = ((1e11, 1.0), (1e14, 1e-3), (1e17, 1e-6), (np.inf, 1e-9))


class TidyError(ForewarnError):
    """A table is none; the message names file, column and what is expected."""


class Rows(NamedTuple):
    """A table in the order of time; `names` are (signal, entity) pairs that `which` points into."""

    seconds: NDArray[np.float64]
    which: NDArray[np.int64]
    values: NDArray[np.float64]
    names: tuple[tuple[str, str], ...]
    unknown: dict[str, int]
    """Signals that the catalogue does not have, with their number of rows, which are left out."""
    unusable: int
    """Rows without a time, a name or a number."""


class Scored(Protocol):
    """A row of scores: `time` in Unix seconds, `surprise` in -log10 p, `signals` most first."""

    @property
    def time(self) -> float: ...  # noqa: D102
    @property
    def entity(self) -> str: ...  # noqa: D102
    @property
    def surprise(self) -> float: ...  # noqa: D102
    @property
    def signals(self) -> tuple[str, ...]: ...  # noqa: D102


class Instant(NamedTuple):
    """The readings of one second: at each place of `which` a value."""

    second: int
    which: NDArray[np.int64]
    values: NDArray[np.float64]


def read(path: Path, admit: Callable[[Iterable[str]], None] | None = None) -> Rows:
    """Read one table; `admit` is told the names of all signals before unknown ones are left out.

    Raises:
        TidyError: if the file cannot be read, or a column is missing or of no use.

    """
    table = _table(path)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise TidyError(f"{path}: has no column {', '.join(missing)}; needs {', '.join(COLUMNS)}")
    seconds = _seconds(table["time"], path)
    values = pd.to_numeric(table["value"], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    signals, names = pd.factorize(table["signal"])
    if admit is not None:
        admit(str(name) for name in names)
    entities, places = pd.factorize(table["entity"])
    known = np.array([str(name) in CATALOGUE for name in names] + [False], np.bool_)
    usable = np.isfinite(seconds) & np.isfinite(values) & (signals >= 0) & (entities >= 0)
    keep = np.flatnonzero(usable & known[signals])
    keep = keep[np.argsort(seconds[keep], kind="stable")]
    pair = signals[keep].astype(np.int64) * max(len(places), 1) + entities[keep]
    which, pairs = pd.factorize(pair)
    held = [divmod(int(own), max(len(places), 1)) for own in pairs]
    series = [(str(names[s]), str(places[e])) for s, e in held]
    ordered = sorted(range(len(series)), key=lambda at: series[at][::-1])  # not as they first came
    rank = np.empty(len(series), np.int64)
    rank[ordered] = np.arange(len(series))
    counts = np.bincount(signals[usable], minlength=len(names))
    unknown = {str(names[i]): int(counts[i]) for i in np.flatnonzero(~known[:-1]) if counts[i]}
    return Rows(
        seconds[keep], rank[which], values[keep], tuple(series[at] for at in ordered), unknown,
        int((~usable).sum()),
    )  # fmt: skip


def instants(rows: Rows) -> Iterator[Instant]:
    """Yield the seconds of a table; of two readings of a series in one second the last stays."""
    whole = np.floor(rows.seconds).astype(np.int64)
    edges = np.flatnonzero(np.diff(whole, prepend=-1, append=-1))
    for first, last in pairwise(edges):
        which, values = rows.which[first:last][::-1], rows.values[first:last][::-1]
        which, at = np.unique(which, return_index=True)
        yield Instant(int(whole[first]), which, values[at])


def attributes(path: Path) -> dict[str, dict[str, str]]:
    """Read a CSV with a column `entity`; every other column is an attribute. Raises TidyError."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise TidyError(f"{path}: {error}") from error
    if "entity" not in table.columns:
        raise TidyError(f"{path}: has no column entity")
    return {
        str(row["entity"]): {str(k): str(v) for k, v in row.items() if k != "entity" and v}
        for row in table.to_dict("records")
    }


def _table(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        text = {"entity": "string", "signal": "string"}
        return pd.read_csv(path, dtype=text, low_memory=False)
    except ImportError as error:
        raise TidyError(f"{path}: reading Parquet needs pyarrow: {error}") from error
    except (OSError, ValueError, KeyError) as error:
        raise TidyError(f"{path}: {error}") from error


def _seconds(column: "pd.Series[object]", path: Path) -> NDArray[np.float64]:
    """Return times as Unix seconds; NaN where there is none."""
    if not pd.api.types.is_numeric_dtype(column):
        try:
            moments = pd.to_datetime(column, utc=True, errors="coerce", format="ISO8601")
        except (ValueError, TypeError) as error:
            raise TidyError(f"{path}: column time: {error}") from error
        since = moments.to_numpy("datetime64[ns]")
        seconds = since.astype(np.int64) / 1e9
        return np.where(np.isnat(since), np.nan, seconds)
    numbers = column.to_numpy(np.float64, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        size = float(np.nanmax(np.abs(numbers), initial=0.0))
    scale = next(scale for limit, scale in UNITS if size <= limit)
    return np.asarray(numbers * scale, np.float64)


def write(path: Path, rows: Sequence[Scored], shift_seconds: int = 0) -> None:
    """Write scores as Parquet (or CSV, by its ending), at the times that the tables had.

    Raises TidyError: if it cannot be written.
    """
    table = pd.DataFrame(
        {
            "time": np.array([own.time for own in rows], np.float64) - shift_seconds,
            "entity": [own.entity for own in rows],
            "surprise": np.array([own.surprise for own in rows], np.float64),
            "signals": [",".join(own.signals) for own in rows],
        }
    )
    try:
        if path.suffix == ".csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path, index=False)
    except ImportError as error:
        raise TidyError(f"{path}: writing Parquet needs pyarrow: {error}") from error
    except OSError as error:
        raise TidyError(f"{path}: {error}") from error
