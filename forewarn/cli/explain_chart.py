"""Draws what was seen and what was expected: in the terminal, and as a picture."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from forewarn.cli.console import clock, readable, utc
from forewarn.errors import ForewarnError
from forewarn.records import NANOSECONDS

if TYPE_CHECKING:
    from detector.explain import Explanation, Point

INSIDE, OUTSIDE, EXPECTED, BAND = "●", "●", "─", "░"


def chart(points: "tuple[Point, ...]", width: int = 90, height: int = 16) -> Text:
    """Return a chart of the points: the band shaded, the expected line, what was seen in it.

    Each column shows the last point of its part of the time; a sample outside the band is red.
    """
    first, last = points[0].unix_seconds, points[-1].unix_seconds
    columns: dict[int, Point] = {}
    for own in points:
        columns[_scaled(own.unix_seconds, first, last, width)] = own
    levels = [own.observed for own in points]
    levels += [level for own in points for level in (own.low, own.high) if level is not None]
    low, high = min(levels), max(levels)
    grid = [[(" ", "")] * width for _ in range(height)]
    for column, own in columns.items():
        _column(grid, column, own, low, high)
    return _framed(grid, low, high, first, last)


def _column(
    grid: list[list[tuple[str, str]]], column: int, own: "Point", low: float, high: float
) -> None:
    height = len(grid)

    def row(level: float) -> int:
        return height - 1 - _scaled(level, low, high, height)

    outside = False
    if own.expected is not None and own.low is not None and own.high is not None:
        for at in range(row(own.high), row(own.low) + 1):
            grid[at][column] = (BAND, "dim")
        grid[row(own.expected)][column] = (EXPECTED, "cyan")
        outside = not own.low <= own.observed <= own.high
    mark = (OUTSIDE, "bold red") if outside else (INSIDE, "green")
    grid[row(own.observed)][column] = mark


def _framed(
    grid: list[list[tuple[str, str]]], low: float, high: float, first: float, last: float
) -> Text:
    text, height = Text(), len(grid)
    for number, row in enumerate(grid):
        level = high - (high - low) * number / (height - 1)
        text.append(f"{readable(round(level, 2)):>10} │ " if number % 3 == 0 else f"{'':>10} │ ")
        for mark, style in row:
            text.append(mark, style)
        text.append("\n")
    begin, end = (clock(round(own * NANOSECONDS)) for own in (first, last))
    text.append(f"{'':>13}{begin}{end:>{len(grid[0]) - len(begin)}}")
    return text


def _scaled(value: float, low: float, high: float, size: int) -> int:
    share = (value - low) / (high - low) if high > low else 0.5
    return min(max(round(share * (size - 1)), 0), size - 1)


def picture(own: "Explanation", path: Path) -> None:
    """Write a PNG or SVG, by the ending of `path`. Raises ForewarnError without matplotlib."""
    try:
        from matplotlib.dates import DateFormatter
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ForewarnError(
            f'{path}: pictures need matplotlib: pip install "forewarn[plot]"'
        ) from error
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.add_subplot()
    judged = [point for point in own.points if point.expected is not None]
    when = [_days(point.unix_seconds) for point in judged]
    axes.fill_between(when, _numbers(point.low for point in judged),
                      _numbers(point.high for point in judged),
                      color="#9ecae1", alpha=0.5, label="normal band")  # fmt: skip
    expected = _numbers(point.expected for point in judged)
    axes.plot(when, expected, color="#08519c", label="expected")
    times = [_days(point.unix_seconds) for point in own.points]
    observed = _numbers(point.observed for point in own.points)
    axes.plot(times, observed, color="#d94801", lw=1, label="observed")
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M:%S"))  # type: ignore[no-untyped-call]
    axes.set(title=f"{own.signal}\n{own.entity}", ylabel=own.unit,
             xlabel=utc(round(own.at_unix_seconds * NANOSECONDS)))  # fmt: skip
    axes.legend(loc="best")
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise ForewarnError(f"{path}: {error}") from error


def _days(unix_seconds: float) -> float:
    """Return a time as matplotlib counts it: days since 1970, UTC."""
    return unix_seconds / 86_400


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [math.nan if own is None else own for own in values]
