"""How verbs speak: tables and colours for people, JSON for machines."""

import datetime as dt
import sys
from functools import cache
from typing import TYPE_CHECKING

import click
import msgspec

from forewarn.records import NANOSECONDS

if TYPE_CHECKING:
    from rich.console import Console

SEVERITY_STYLES = {"critical": "bold red", "major": "red", "minor": "yellow", "info": "cyan"}
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


@cache
def console(stderr: bool = False) -> "Console":
    """Return the console of this process; rich honours NO_COLOR and the width of the terminal."""
    from rich.console import Console

    own = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not own.is_terminal and own.width < 110:
        own = Console(stderr=stderr, highlight=False, width=110)
    return own


def emit(value: object) -> None:
    """Write one JSON line and flush it, so that a reader sees it at once."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.flush()


def utc(time_unix_nano: int | None) -> str:
    """Return a time as people read it: `2026-11-30 21:16:29Z`; `-` for none."""
    if time_unix_nano is None:
        return "-"
    moment = dt.datetime.fromtimestamp(time_unix_nano / NANOSECONDS, dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")


def clock(time_unix_nano: int) -> str:
    """Return the time of day only."""
    return utc(time_unix_nano)[11:]


def readable(value: float) -> str:
    """Return a value as people read it: six digits, and whole numbers never as powers of ten."""
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def seconds(duration: float | None) -> str:
    """Return a duration as people read it: `3.2 s`, `75 s`, `12 min`, `3.5 h`."""
    if duration is None:
        return "-"
    for limit, unit, size in ((10, "s", 1), (120, "s", 1), (7200, "min", 60)):
        if duration < limit:
            return f"{duration / size:.{1 if limit == 10 else 0}f} {unit}"
    return f"{duration / 3600:.1f} h"
