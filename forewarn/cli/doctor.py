"""`forewarn doctor`: what on this machine is in the way, and the fix for each."""

from collections.abc import Callable, Iterator
from typing import Literal

import click
import msgspec

from forewarn.cli import doctor_checks as checks
from forewarn.cli.console import emit, json_option
from forewarn.cli.main import Invocation
from forewarn.config import Settings
from forewarn.errors import ForewarnError

MARKS = {"ok": ("green", "ok"), "warn": ("yellow", "warn"), "fail": ("red", "FAIL")}
# In the order in which a new user meets them; a check yields any number of findings.
CHECKS: tuple[tuple[str, Callable[[Settings], Iterator[checks.Result]]], ...] = (
    ("python", checks.python),
    ("packages", checks.packages),
    ("catalogue", checks.catalogue),
    ("runbooks", checks.runbooks),
    ("state directory", checks.state),
    ("sensors", checks.sensors),
    ("gpus", checks.gpus),
    ("kernel log", checks.kernel_log),
    ("job logs", checks.job_logs),
    ("clock", checks.clock),
    ("ports", checks.ports),
    ("webhooks", checks.webhooks),
    ("kafka", checks.kafka),
)


class Line(msgspec.Struct, frozen=True):
    """One line of the report."""

    check: str
    level: Literal["ok", "warn", "fail"]
    text: str
    fix: str = ""


def _lines(settings: Settings) -> Iterator[Line]:
    for name, check in CHECKS:
        try:
            for result in check(settings):
                yield Line(name, result.level, result.text, result.fix)
        except (ForewarnError, OSError) as error:
            yield Line(name, "fail", str(error))


@click.command()
@json_option
@click.pass_obj
def doctor(invocation: Invocation, as_json: bool) -> None:
    """Check this machine and its configuration; exit code 1 if something fails.

    \b
    Examples:
      forewarn doctor
      forewarn --config forewarn.toml doctor --json
    """
    failed = False
    for line in _lines(invocation.settings):
        failed |= line.level == "fail"
        if as_json:
            emit(line)
            continue
        colour, mark = MARKS[line.level]
        click.echo(f"{click.style(f'{mark:<5}', fg=colour)} {line.check:<16} {line.text}")
        if line.fix:
            click.echo(f"{'':<23}{click.style('fix:', dim=True)} {line.fix}")
    raise SystemExit(1 if failed else 0)
