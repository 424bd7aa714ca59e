"""The command `forewarn`: the table of verbs, the options they share, errors and exit codes."""

import importlib
import io
import logging
import os
import sys
from pathlib import Path

import click

from forewarn import __version__, config
from forewarn.cli.groups import Group
from forewarn.errors import ForewarnError
from forewarn.language import Language

# Verb -> module under forewarn.cli and the command in it. A verb is imported when it is called:
# the agent must not pay for the tables and colours of the others.
VERBS = {
    "demo": "demo:demo",
    "up": "up:up",
    "agent": "agent:agent",
    "detect": "stages:detect",
    "decide": "stages:decide",
    "simulate": "simulate:simulate",
    "record": "replay:record",
    "replay": "replay:replay",
    "explain": "explain:explain",
    "train": "model:train",
    "model": "model:model",
    "topics": "topics:topics",
    "runbook": "runbook:runbook",
    "incident": "incident:incident",
    "budget": "budget:budget",
    "doctor": "doctor:doctor",
    "version": "version:version",
}
EXAMPLES = """\b
Examples:
  forewarn demo                        a simulated cluster, five faults, no server needed
  forewarn up                          watch this machine: agent, detect and decide in one process
  forewarn runbook lookup xid 79       what a code, a signal or a few words mean, and what to do
  forewarn incident list               what is open now
  forewarn doctor                      what on this machine is in the way

\b
Exit codes: 0 done; 1 failed or not healthy; 2 wrong usage or configuration;
3 nothing found; 4 a service could not be reached; 130 interrupted.
"""


class _Verbs(Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, _, attribute = VERBS[cmd_name].partition(":")
        command: click.Command = getattr(
            importlib.import_module(f"forewarn.cli.{module}"), attribute
        )
        return command


@click.group(cls=_Verbs, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    envvar="FOREWARN_CONFIG",
    help="Settings, a TOML file; also FOREWARN_CONFIG. Without one the defaults hold.",
)
@click.option(
    "--lang", type=click.Choice(["en", "zh"]), envvar="FOREWARN_LANG", help="Language of texts."
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="How much is logged, on standard error.",
)
@click.version_option(__version__, prog_name="forewarn")
@click.pass_context
def cli(ctx: click.Context, config_path: Path | None, lang: str | None, log_level: str) -> None:
    """Early warning for AI clusters: what is going wrong, why, and what to do.

    AI 集群预警：哪里将出问题、为什么、怎么办。
    """
    logging.basicConfig(
        level=log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    for chatty in ("kafka", "httpx", "httpcore", "uvicorn"):
        logging.getLogger(chatty).setLevel(
            max(logging.WARNING, getattr(logging, log_level.upper()))
        )
    if os.environ.get("NO_COLOR"):  # no-color.org; click does not look by itself
        ctx.color = False
    ctx.obj = _Invocation(config_path, lang)


class _Invocation:
    """What the verbs get: settings are read when the first one asks."""

    def __init__(self, path: Path | None, lang: str | None) -> None:
        self.path = path
        self._lang = lang
        self._settings: config.Settings | None = None

    @property
    def settings(self) -> config.Settings:
        """Return the settings. Raises ConfigError."""
        if self._settings is None:
            self._settings = config.load(self.path)
        return self._settings

    @property
    def language(self) -> Language:
        """Return the language asked for, else that of the settings."""
        return self.speaking(None)

    def speaking(self, lang: str | None) -> Language:
        """Return the language of one verb: its own --lang, else the shared one, else settings."""
        wanted = lang or self._lang
        if wanted == "zh":
            return "zh"
        return "en" if wanted == "en" else self.settings.language


Invocation = _Invocation


def main() -> None:
    """Run the command; errors of ours are one clear line and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without Chinese gets `?`, and the rest
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    out = sys.stdout
    code: object
    try:
        code = cli.main(prog_name="forewarn", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except ForewarnError as error:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {error}", err=True)
        code = error.exit_code
    except SystemExit as end:
        # click ends in failure when the reader went away (| head), and then replaces stdout
        code = end.code if sys.stdout is out else 0
    sys.exit(code if isinstance(code, int) else 0)
