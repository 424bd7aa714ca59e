"""`forewarn record` and `forewarn replay`: keep what the bus carried, and run it through again."""

from pathlib import Path

import click
from prometheus_client import REGISTRY

from forewarn.bus import TopicName
from forewarn.cli.console import json_option
from forewarn.cli.main import Invocation
from forewarn.cli.process import make_bus, need_shared_bus, stop_on_signals

RECORDING = ".fwrec"
THERE = click.Path(path_type=Path, dir_okay=False, exists=True)
OUT = click.Path(path_type=Path, dir_okay=False, writable=True)
RAW: tuple[TopicName, ...] = ("inventory", "events", "jobs", "frames")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
def record(invocation: Invocation, file: Path) -> None:
    """Record what the bus carries into FILE, until stopped.

    Frames, jobs and events from now on, the inventory from its beginning. `forewarn replay FILE`
    gives the findings and incidents that a live run gave.
    """
    from forewarn.recording import record as write

    settings = invocation.settings
    need_shared_bus(settings, "record")
    stop = stop_on_signals()
    bus = make_bus(settings, "forewarn-record", REGISTRY)
    consumer = bus.consumer(RAW, None, from_beginning=("inventory",))
    click.echo(f"recording into {file}; stop with Ctrl-C", err=True)
    count = write(consumer, file, settings.cluster, stop)
    consumer.close()
    click.echo(f"{count} messages in {file}", err=True)


@click.command()
@click.argument("files", nargs=-1, required=True, type=THERE)
@click.option(
    "--train", multiple=True, type=THERE,
    help="A table to learn from first; nothing is told of it. Once for each file.",
)  # fmt: skip
@click.option(
    "--inventory",
    type=THERE,
    help="CSV with a column entity; others are attributes: model, rack; job, rank, stage of ranks.",
)
@click.option("--unknown", type=click.Choice(["refuse", "gauge"]), default="refuse",
              show_default=True, help="What to do with signals the catalogue lacks.")  # fmt: skip
@click.option("--speed", type=click.Choice(["max"]), default="max", show_default=True,
              help="As fast as it goes; times are those of the records.")  # fmt: skip
@click.option("--scores", type=OUT, help="Parquet: surprise of each entity at each time.")
@click.option("--findings", type=OUT, help="JSON lines: findings as they open, change and close.")
@click.option("--incidents", type=OUT, help="JSON lines: every incident in its last revision.")
@json_option
@click.pass_obj
def replay(
    invocation: Invocation, files: tuple[Path, ...], train: tuple[Path, ...],
    inventory: Path | None, unknown: str, speed: str, scores: Path | None, findings: Path | None,
    incidents: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run a recording, or tables, through detector and decider; show findings and incidents.

    FILES are one recording (.fwrec), or tables as Parquet or CSV with the columns time, entity,
    signal, value, in the order of time. Nothing is told to anybody and no database is kept. The
    same files always give the same findings and incidents, ids included.

    \b
    Examples:
      forewarn simulate demo --out demo.fwrec && forewarn replay demo.fwrec
      forewarn replay demo.fwrec --json | jq 'select(.kind == "incident")'
      forewarn replay monday.parquet --train week.parquet --unknown gauge --scores scores.parquet
    """
    from forewarn.cli.replaying import Outputs, of_recording, of_tables

    outputs = Outputs(invocation.language, as_json, scores, findings, incidents)
    if [path.suffix for path in files] == [RECORDING]:
        if train or inventory or unknown != "refuse":
            raise click.UsageError("--train, --inventory and --unknown are for tables")
        of_recording(invocation.settings, files[0], outputs)
    elif any(path.suffix == RECORDING for path in (*files, *train)):
        raise click.UsageError("give one recording (.fwrec), or tables; not both at once")
    else:
        of_tables(invocation.settings, files, train, inventory, unknown, outputs)
