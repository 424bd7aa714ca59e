"""`forewarn topics`: make the bus's topics, or say how they differ from what they should be."""

from typing import TYPE_CHECKING

import click

from forewarn.cli.console import emit, json_option
from forewarn.cli.groups import Group
from forewarn.cli.main import Invocation

if TYPE_CHECKING:
    from forewarn.topics import TopicsReport

COLOURS = {"fine": "green", "created": "cyan", "missing": "red", "differs": "yellow"}


@click.group(cls=Group)
def topics() -> None:
    """Kafka topics: create those that are missing, describe all."""


@topics.command()
@json_option
@click.pass_obj
def create(invocation: Invocation, as_json: bool) -> None:
    """Create the topics that are missing; those that are there are never altered or deleted."""
    from forewarn.topics import create as make

    _tell(make(invocation.settings.bus.kafka), as_json)


@topics.command()
@json_option
@click.pass_obj
def describe(invocation: Invocation, as_json: bool) -> None:
    """Compare the broker's topics with what they should be; exit code 1 if they differ."""
    from forewarn.topics import describe as read

    _tell(read(invocation.settings.bus.kafka), as_json)


def _tell(report: "TopicsReport", as_json: bool) -> None:
    for topic in report.topics:
        if as_json:
            emit(topic)
            continue
        mark = click.style(f"{topic.status:<8}", fg=COLOURS[topic.status])
        click.echo(f"{mark} {topic.name:<24} {topic.partitions:>4} partitions")
        for own in topic.differences:
            click.echo(f"         {own.setting}: {own.found or 'unset'}, wanted {own.wanted}")
            click.echo(f"         {click.style('fix:', dim=True)} {own.fix}")
    raise SystemExit(0 if report.fine() else 1)
