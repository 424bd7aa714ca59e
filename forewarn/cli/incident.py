"""`forewarn incident`: what is open, one incident whole, and what people say of its cause."""

import getpass
import time
from typing import get_args

import click

from forewarn.cli.console import console, emit, json_option
from forewarn.cli.decide_client import DecideClient, NotFoundError
from forewarn.cli.groups import Group
from forewarn.cli.main import Invocation
from forewarn.incident import Incident, Proof, State
from forewarn.records import NANOSECONDS

DONE = {"confirm": "confirmed", "refute": "refuted"}
lang_option = click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of texts.")
job_option = click.option("--job", help="The latest incident of this job instead of an id.")


def _somebody(_context: click.Context, _option: click.Parameter, name: str) -> str:
    """Take the user where no name is given: `$USER` is empty in many containers."""
    return name.strip() or getpass.getuser()


by_option = click.option(
    "--by", default="", callback=_somebody, help="Who says so; you, unless told."
)
note_option = click.option("--note", default="", help="Why, in a few words.")


@click.group(cls=Group)
def incident() -> None:
    """Incidents: list, show, acknowledge, confirm or refute a cause, resolve.

    \b
    Examples:
      forewarn incident list --state open
      forewarn incident show 01KE6K
      forewarn incident acknowledge 01KE6K --note "on it"
      forewarn incident confirm 01KE6K GPU-TP-01 --proof diagnostic --note "re-pasted, 12 C cooler"
    """


@incident.command("list")
@click.option("--state", type=click.Choice(get_args(State)), help="Only in this state.")
@click.option("--entity", default="", help="Only at this entity or below it.")
@click.option("--job", default="", help="Only of this job.")
@click.option("--since-hours", type=float, default=0.0, help="Changed within so many hours.")
@click.option("--limit", type=int, default=50, show_default=True)
@lang_option
@json_option
@click.pass_obj
def show_list(
    invocation: Invocation, state: str | None, entity: str, job: str, since_hours: float,
    limit: int, lang: str | None, as_json: bool,
) -> None:  # fmt: skip
    """List incidents, the latest change first."""
    since = time.time_ns() - int(since_hours * 3600 * NANOSECONDS) if since_hours else 0
    client = DecideClient(invocation.settings)
    found = client.find(state=state or "", entity=entity, since=since, limit=limit)
    found = [own for own in found if not job or job in own.jobs]
    if as_json:
        for own in found:
            emit(own)
        return
    from forewarn.cli import render

    language = invocation.speaking(lang)
    if not found:
        click.echo("no incidents" if language == "en" else "没有事件")
        return
    console().print(render.incident_table(found, language))


@incident.command()
@click.argument("id_", metavar="ID", required=False)
@job_option
@click.option("--causes", type=int, default=1, show_default=True, help="Show so many causes whole.")
@lang_option
@json_option
@click.pass_obj
def show(
    invocation: Invocation, id_: str | None, job: str | None, causes: int, lang: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Show an incident whole; any unique beginning of its ID will do.

    In the table of findings, surprise says how unlikely chance alone is: 6 is one in a million
    (-log10 p), 300 the most that is counted.
    """
    found = _find(invocation, id_, job)
    if as_json:
        emit(found)
        return
    from forewarn.cli import render

    own = invocation.speaking(lang)
    console().print(render.incident_panel(found, own, causes))
    render.evidence_table(found, console(), own)


def _find(invocation: Invocation, prefix: str | None, job: str | None) -> Incident:
    if (prefix is None) == (job is None):
        raise click.UsageError("name an incident by its ID or by --job, one of the two")
    client = DecideClient(invocation.settings)
    if prefix is not None:
        return client.get(prefix)
    found = [own for own in client.find(limit=1000) if job in own.jobs and own.state != "merged"]
    if not found:
        raise NotFoundError(f"no incident of job {job!r}; see `forewarn incident list`")
    return found[0]


def _act(invocation: Invocation, found: Incident, action: str, **body: object) -> None:
    own = DecideClient(invocation.settings).act(found.id, action, body)
    done = f"  {DONE[action]} {body['entry']}" if "entry" in body else ""
    click.echo(f"{own.id} {own.state}{done}")


@incident.command()
@click.argument("id_", metavar="ID", required=False)
@job_option
@by_option
@note_option
@click.pass_obj
def acknowledge(
    invocation: Invocation, id_: str | None, job: str | None, by: str, note: str
) -> None:
    """Take an incident in hand."""
    _act(invocation, _find(invocation, id_, job), "acknowledge", by=by, note=note)


@incident.command()
@click.argument("id_", metavar="ID", required=False)
@job_option
@by_option
@note_option
@click.pass_obj
def resolve(invocation: Invocation, id_: str | None, job: str | None, by: str, note: str) -> None:
    """Call an incident over: the trouble is gone, whatever its cause was."""
    _act(invocation, _find(invocation, id_, job), "resolve", by=by, note=note)


@incident.command()
@click.argument("words", metavar="[ID] ENTRY", nargs=-1, required=True)
@job_option
@click.option(
    "--proof", type=click.Choice(get_args(Proof)), required=True, help="What shows that it was it."
)
@by_option
@note_option
@click.pass_obj
def confirm(
    invocation: Invocation, words: tuple[str, ...], job: str | None, proof: str, by: str, note: str
) -> None:
    """Say that ENTRY was the cause; it counts in the next ranking."""
    found, entry = _incident_and_entry(invocation, words, job)
    _act(invocation, found, "confirm", entry=entry, proof=proof, by=by, note=note)


@incident.command()
@click.argument("words", metavar="[ID] ENTRY", nargs=-1, required=True)
@job_option
@click.option("--proof", type=click.Choice(get_args(Proof)), help="What shows that it was not.")
@by_option
@note_option
@click.pass_obj
def refute(
    invocation: Invocation, words: tuple[str, ...], job: str | None, proof: str | None, by: str,
    note: str,
) -> None:  # fmt: skip
    """Say that ENTRY was not the cause; it counts in the next ranking."""
    found, entry = _incident_and_entry(invocation, words, job)
    extra = {"proof": proof} if proof else {}
    _act(invocation, found, "refute", entry=entry, by=by, note=note, **extra)


def _incident_and_entry(
    invocation: Invocation, words: tuple[str, ...], job: str | None
) -> tuple[Incident, str]:
    """Read `ID ENTRY`, or `ENTRY` with --job."""
    if len(words) != (1 if job else 2):
        raise click.UsageError("give ID and ENTRY, or --job JOB and ENTRY")
    prefix = None if job else words[0]
    return _find(invocation, prefix, job), words[-1].upper().partition("@")[0]
