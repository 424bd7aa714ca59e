"""`forewarn train` and `forewarn model`: learn from history, and read what was learned."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forewarn.cli.console import console, emit, json_option, readable, utc
from forewarn.cli.groups import Group
from forewarn.records import NANOSECONDS

if TYPE_CHECKING:
    from detector.bundle import Card
    from detector.training.train import Report

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("files", nargs=-1, required=True,
                type=click.Path(path_type=Path, dir_okay=False, exists=True))  # fmt: skip
@click.option("--out", type=FOLDER, required=True, help="Folder the model is written to.")
@click.option(
    "--inventory",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="CSV with a column entity, the others are attributes: model, rack. For tables only.",
)
@click.option(
    "--incidents",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="JSON lines of `forewarn incident list --json`: what the confirmed ones held is left out.",
)
@json_option
def train(
    files: tuple[Path, ...], out: Path, inventory: Path | None, incidents: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Learn a model from history: what is normal for each device and each hardware model.

    FILES are recordings (.fwrec), or tables as Parquet or CSV with the columns time, entity,
    signal, value, in the order of time. The last fifth of the time is judged before it is learned
    from; the card of the model says how that went.

    \b
    Examples:
      forewarn train monday.fwrec tuesday.fwrec --out model
      forewarn train day-*.parquet --inventory nodes.csv --out model
      forewarn incident list --limit 1000 --json > incidents.jsonl
      forewarn train day-*.parquet --incidents incidents.jsonl --out model
      forewarn model show model
    """
    from detector.bundle import save
    from detector.training.train import train as learn

    with console(stderr=True).status("reading") as status:

        def progress(name: str, seconds: float) -> None:
            status.update(f"{name}: {utc(round(seconds * NANOSECONDS))}")

        model, report = learn(files, inventory, progress, incidents)
    card = save(out, model)
    if as_json:
        emit({"card": card, "report": report})
        return
    _tell_report(report)
    _tell(card, out)


@click.group(cls=Group)
def model() -> None:
    """Models that `forewarn train` made: show one, compare two."""


@model.command()
@click.argument("folder", type=FOLDER)
@json_option
def show(folder: Path, as_json: bool) -> None:
    """Show what a model is: from when, of what, and how it did on days it had not seen.

    All of it is read and checked, so a model that shows is one that detect takes.
    """
    from detector.bundle import load
    from detector.families.context import FEATURES

    card = load(folder, FEATURES).card
    if as_json:
        emit(card)
    else:
        _tell(card, folder)


@model.command()
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@json_option
def compare(old: Path, new: Path, as_json: bool) -> None:
    """Compare two models: gains, spreads, alarms; the largest change first."""
    from detector.bundle import load
    from detector.compare import compare as between

    one, two = load(old), load(new)
    changes = between(one, two)
    if as_json:
        emit({"old": one.card.model_id, "new": two.card.model_id, "changes": changes})
        return
    console().print(f"{one.card.model_id} → {two.card.model_id}")
    console().print(
        f"findings a day on days kept back: {one.card.validation.findings_per_day:.3g} → "
        f"{two.card.validation.findings_per_day:.3g}"
    )
    from rich.table import Table

    table = Table("what", "of", "old", "new", "change", box=None)
    for own in changes[:40]:
        table.add_row(own.what, own.of, readable(own.old), readable(own.new),
                      f"{100 * own.ratio:+.1f} %")  # fmt: skip
    console().print(table)


def _tell_report(report: "Report") -> None:
    console().print(
        f"{report.rows:,} rows read, {report.unusable:,} unusable, {report.late:,} late"
    )
    if report.confirmed:
        console().print(f"{report.confirmed:,} readings left out: confirmed incidents")
    for name, count in sorted(report.unknown.items()):
        console().print(f"[yellow]unknown signal[/] {name}: {count:,} rows left out")


def _tell(card: "Card", folder: Path) -> None:
    from rich.table import Table

    own = console()
    own.print(f"[bold]{card.model_id}[/] in {folder}, made by Forewarn {card.made_by}")
    own.print(f"learned from {_day(card.from_unix_seconds)} to {_day(card.until_unix_seconds)}")
    own.print(f"{card.rows:,} rows, {card.series:,} series of {card.entities:,} entities")
    checked = card.validation
    own.print(
        f"last {checked.days:.2f} days, judged before they were learned from: {checked.findings} "
        f"findings, {checked.findings_per_day:.3g} a day"
    )
    table = Table("signal", "samples", "share of p < 0.01", "by the hour", box=None)
    for name, seen in sorted(checked.signals.items()):
        season = card.seasons.get(name)
        hours = "not tested" if season is None else ("yes" if season.used else "no")
        table.add_row(name, f"{seen.samples:,}", f"{seen.rare_ratio:.4f}", hours)
    own.print(table)
    for name in card.left_out:
        own.print(f"[yellow]left out[/], unlike all others of its model: {name}")


def _day(seconds: float) -> str:
    return utc(round(seconds * NANOSECONDS))
