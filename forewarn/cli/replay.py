"""`forewarn record` and `forewarn replay`: keep what the bus carried, and run it through again."""

import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import click
from prometheus_client import REGISTRY

from forewarn.bus import Message, TopicName
from forewarn.cli.console import console, emit, json_option
from forewarn.cli.line import Line, Step
from forewarn.cli.main import Invocation
from forewarn.cli.process import make_bus, need_shared_bus, stop_on_signals
from forewarn.incident import Incident
from forewarn.language import Language
from forewarn.records import NANOSECONDS

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
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@json_option
@click.pass_obj
def replay(invocation: Invocation, file: Path, as_json: bool) -> None:
    """Run a recording through detector and decider; show findings and incidents.

    Nothing is told to anybody and no database is kept. The same recording always gives the same
    findings and incidents, ids included.

    \b
    Examples:
      forewarn simulate demo --out demo.fwrec && forewarn replay demo.fwrec
      forewarn replay demo.fwrec --json | jq 'select(.kind == "incident")'
    """
    import msgspec

    import runbooks
    from forewarn.recording import head, read

    settings = msgspec.structs.replace(invocation.settings, cluster=head(file).cluster, webhook=())
    with tempfile.TemporaryDirectory(prefix="forewarn-replay-") as directory:
        line = Line(settings, Path(directory), runbooks.load())
        for step in _steps(line, read(file)):
            _tell(step, invocation.language, as_json)
        _end(line.incidents(), invocation.language, as_json)
        line.close()


def _steps(line: Line, messages: Iterator[Message]) -> Iterator[Step]:
    """Step once for each second of the stream."""
    for _, second in groupby(messages, lambda own: own.append_time_unix_nano // NANOSECONDS):
        line.replay(second)
        yield line.step()
    yield line.finish()


def _tell(step: Step, language: Language, as_json: bool) -> None:
    if as_json:
        for finding in step.findings:
            emit({"kind": "finding", "finding": finding})
        for incident in step.incidents:
            emit({"kind": "incident", "incident": incident})
        return
    from forewarn.cli import render

    for finding in step.findings:
        if finding.seq == 1:
            console().print(render.finding_line(finding, language))


def _end(incidents: list[Incident], language: Language, as_json: bool) -> None:
    if as_json:
        return
    from forewarn.cli import render

    standing = [own for own in incidents if own.state != "merged"]
    for incident in standing:
        console().print(render.incident_panel(incident, language))
    console().print(f"{len(standing)} incidents")
