"""`forewarn runbook`: look causes up, read an entry whole, check entries."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forewarn.cli.console import console, emit, json_option
from forewarn.cli.groups import Group
from forewarn.cli.main import Invocation
from forewarn.language import Language

if TYPE_CHECKING:
    from runbooks import Answer, Table

NOTHING_FOUND = 3


@click.group(cls=Group)
def runbook() -> None:
    """The root-cause runbook: lookup, show, lint.

    \b
    Examples:
      forewarn runbook lookup loss nan
      forewarn runbook lookup 训练吞吐突然下降
      forewarn runbook lookup xid 79
      forewarn runbook lookup gpu_temperature_celsius=high
      forewarn runbook lookup "NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus."
      forewarn runbook lookup --incident 01KE6K
      forewarn runbook show GPU-TP-01 --lang zh
    """


def _table(invocation: Invocation, more: tuple[Path, ...] = ()) -> "Table":
    import runbooks

    own = [Path(directory) for directory in invocation.settings.decide.runbook_directories]
    return runbooks.load([*own, *more])


lang_option = click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of texts.")


@runbook.command()
@click.argument("query", nargs=-1)
@click.option("--incident", help="Entries held against the evidence of this incident.")
@click.option("--limit", type=int, default=5, show_default=True, help="At most so many entries.")
@click.option("--kind", type=click.Choice(["cause", "symptom", "outcome"]), help="Only this kind.")
@lang_option
@json_option
@click.pass_obj
def lookup(
    invocation: Invocation, query: tuple[str, ...], incident: str | None, limit: int,
    kind: Any, lang: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Find entries by words, code, signal=word, entry id, incident, or a pasted line of a log.

    Says why each matched. A line of the kernel's or a training job's log is read as the agent
    would read it.

    Exit code 3 if nothing but near names was found.
    """
    import runbooks
    from forewarn.cli import runbook_render as render

    language = invocation.speaking(lang)
    if incident is not None:
        _explain(invocation, incident, language, as_json)
        return
    if not query:
        raise click.UsageError("say what to look up: words, a code, signal=word, or --incident ID")
    answer = runbooks.lookup(_table(invocation), _meant(" ".join(query)), limit, kind)
    if as_json:
        _emit_answer(answer, language)
    else:
        render.answer(console(), answer, language)
    raise SystemExit(NOTHING_FOUND if answer.nearest else 0)


def _meant(query: str) -> str:
    """Return the query, or the code of the line of a log that it is; says so on stderr."""
    from forewarn.cli import log_line

    code = log_line.code(query)
    if code:
        click.echo(f"read as a line of a log: {code}", err=True)
    return code or query


def _emit_answer(answer: "Answer", language: Language) -> None:
    for hit in answer.hits:
        emit(
            {
                "entry": hit.entry.id,
                "rev": hit.entry.rev,
                "status": hit.entry.status,
                "kind": hit.entry.kind,
                "title": hit.entry.title,
                "score": hit.score,
                "nearest": answer.nearest,
                "why": [text.say(language) for text in hit.why],
            }
        )
    for note in answer.notes:
        click.echo(note.say(language), err=True)


def _explain(invocation: Invocation, prefix: str, language: Language, as_json: bool) -> None:
    """Show every hypothesis of an incident with its evidence."""
    from forewarn.cli import render
    from forewarn.cli.decide_client import DecideClient

    found = DecideClient(invocation.settings).get(prefix)
    if as_json:
        for hypothesis in found.hypotheses:
            emit(hypothesis)
        return
    console().print(render.incident_panel(found, language, causes=len(found.hypotheses)))


@runbook.command()
@click.argument("entry")
@lang_option
@json_option
@click.pass_obj
def show(invocation: Invocation, entry: str, lang: str | None, as_json: bool) -> None:
    """Show one entry whole: evidence, checks with commands, actions, sources."""
    import runbooks
    from forewarn.cli import runbook_render as render

    table = _table(invocation)
    found = table.get(entry.upper().partition("@")[0])
    if found is None:
        near = runbooks.lookup(table, entry, limit=3)
        names = ", ".join(hit.entry.id for hit in near.hits)
        click.echo(f"no entry {entry!r}; the nearest are {names}", err=True)
        raise SystemExit(NOTHING_FOUND)
    if as_json:
        emit(found)
        return
    render.entry(console(), found, invocation.speaking(lang))


@runbook.command()
@click.argument("directories", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@json_option
@click.pass_obj
def lint(
    invocation: Invocation, directories: tuple[Path, ...], strict: bool, as_json: bool
) -> None:
    """Check all entries, and those in DIRECTORIES; exit code 1 on an error."""
    from runbooks.lint import lint as check

    table = _table(invocation, directories)
    problems = check(table)
    for problem in problems:
        if as_json:
            emit(problem)
            continue
        colour = "red" if problem.severity == "error" else "yellow"
        click.echo(f"{click.style(problem.severity, fg=colour)}: {problem}")
    errors = sum(strict or problem.severity == "error" for problem in problems)
    if not as_json:
        active = sum(entry.status == "active" for entry in table.entries.values())
        click.echo(f"{len(table)} entries, {active} active: {len(problems)} problems", err=True)
    sys.exit(1 if errors else 0)
