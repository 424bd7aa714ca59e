"""`forewarn explain`: what was expected of one series, from which inputs, and learned from when."""

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forewarn.cli.console import console, emit, json_option, readable, utc
from forewarn.cli.main import Invocation
from forewarn.records import NANOSECONDS

if TYPE_CHECKING:
    from detector.bundle import Model
    from detector.explain import Explanation

FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
OUT = click.Path(path_type=Path, dir_okay=False)


def _moment(_ctx: click.Context, _param: click.Parameter, text: str | None) -> float | None:
    """Read a time, ISO 8601 (UTC where nothing else is said) or Unix seconds."""
    if text is None:
        return None
    try:
        return float(text) if "T" not in text and "-" not in text else _iso(text)
    except ValueError:
        told = f"{text!r} is no time, as in 2026-11-30T21:16:29Z or 1796073389"
        raise click.BadParameter(told) from None


def _iso(text: str) -> float:
    moment = dt.datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()


@click.command()
@click.argument("entity")
@click.argument("signal")
@click.option("--recording", type=FILE, help="A recording (.fwrec) to run up to that time.")
@click.option(
    "--table",
    "tables",
    type=FILE,
    multiple=True,
    help="A table, Parquet or CSV: time, entity, signal, value; more than once.",
)
@click.option("--at", callback=_moment, help="When: ISO 8601 or Unix seconds; else the end.")
@click.option(
    "--window",
    type=click.FloatRange(min=1),
    default=1800.0,
    show_default=True,
    help="Seconds before it that are drawn.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path, file_okay=False),
    help="A trained model to begin with; else that of the configuration.",
)
@click.option("--png", type=OUT, help="Write a picture there.")
@click.option("--svg", type=OUT, help="Write a picture there.")
@json_option
@click.pass_obj
def explain(
    invocation: Invocation, entity: str, signal: str, recording: Path | None,
    tables: tuple[Path, ...], at: float | None, window: float, model: Path | None,
    png: Path | None, svg: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Explain a verdict: what was expected, from which inputs, which band, learned from when.

    The detector is run anew over a recording or over tables, up to that time. So it explains what
    a detector that began with the file (and the model) thought. One that has been running for
    weeks has learned from more: record with `forewarn record`, and give it a trained model.

    \b
    Examples:
      forewarn explain node/n03/gpu/0000:61:00.0 gpu_temperature_celsius --recording demo.fwrec
      forewarn explain node/n03 node_fan_speed_ratio --table day.parquet --at 2026-11-30T21:16Z
    """
    if (recording is None) == (not tables):
        raise click.UsageError("give either --recording or --table")
    from forewarn.catalogue import CATALOGUE

    signal, model = CATALOGUE.resolve(signal).name, model or _configured(invocation)
    if recording is not None:
        found = _of_recording(recording, entity, signal, at, window, model)
    else:
        from detector.training.explain import of_tables

        found = of_tables(tables, entity, signal, at, window, _model(model))
    for path in (png, svg):
        if path is not None:
            from forewarn.cli.explain_chart import picture

            picture(found, path)
    if as_json:
        emit(found)
    else:
        _tell(found)


def _configured(invocation: Invocation) -> Path | None:
    path = invocation.settings.detect.model
    return Path(path) if path else None


def _model(folder: Path | None) -> "Model | None":
    from detector.bundle import load
    from detector.families.context import FEATURES

    return load(folder, FEATURES) if folder else None


def _of_recording(
    path: Path, entity: str, signal: str, at: float | None, window: float, model: Path | None
) -> "Explanation":
    from detector.explain import of_recording
    from forewarn.recording import head, read

    cluster = head(path).cluster
    return of_recording(read(path), cluster, entity, signal, at, window, _model(model))


def _tell(own: "Explanation") -> None:
    from rich.table import Table

    from forewarn.cli.explain_chart import chart

    out = console()
    out.print(f"[bold]{own.signal}[/] of {own.entity} at {_time(own.at_unix_seconds)}")
    out.print(chart(own.points, width=min(out.width - 14, 110)))
    out.print(f"observed {readable(own.observed)} {own.unit}; {_expected(own)}")
    out.print(
        f"family {own.family}: surprise {own.surprise:.1f} (-log10 p), "
        f"{abs(own.effect):.1f} times the smallest change that matters"
    )
    if own.inputs:
        table = Table("input", "value", f"adds, {own.unit}", box=None)
        for given in own.inputs:
            table.add_row(given.name, readable(given.value), f"{given.part:+.2f}")
        out.print(table)
    learned = f"{_time(own.learned_from_unix_seconds)} to {_time(own.learned_until_unix_seconds)}"
    model = f", beginning with model {own.model_id}" if own.model_id else ""
    out.print(f"learned from {learned}, {own.learned_minutes:.0f} minutes with readings{model}")
    for finding in own.findings:
        out.print(f"[red]open finding[/] {finding.id} since "
                  f"{utc(finding.opened_at_unix_nano)}: {finding.text}")  # fmt: skip


def _expected(own: "Explanation") -> str:
    if own.expected is None or own.low is None or own.high is None:
        return "not ready: too little was learned to expect anything"
    return (
        f"expected {readable(round(own.expected, 3))}, normal from {readable(round(own.low, 3))} "
        f"to {readable(round(own.high, 3))}"
    )


def _time(seconds: float) -> str:
    return utc(round(seconds * NANOSECONDS))
