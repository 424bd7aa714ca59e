"""What the demo shows while it runs and at its end: for a terminal, or as JSON lines."""

import time
from typing import TYPE_CHECKING, Protocol

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from forewarn import entity as entities
from forewarn.cli import render
from forewarn.cli.console import console, emit, seconds
from forewarn.cli.here import Sensors
from forewarn.cli.line import Line, Step
from forewarn.cli.score import Row, Score
from forewarn.language import Language
from forewarn.records import NANOSECONDS

if TYPE_CHECKING:
    from simulator import Scenario


class Show(Protocol):
    """What the demo tells of itself."""

    def begin(self, scenario: "Scenario", seed: int) -> None:
        """Say what is simulated, and from which seed."""

    def step(self, step: Step, now: int) -> None:
        """Show what one simulated second brought."""

    def end(self, line: Line) -> None:
        """Show every incident in full."""

    def here(self, sensors: Sensors) -> None:
        """Show the real sensors of this machine."""

    def score(self, score: Score) -> None:
        """Show injected, found, delay, cause."""


class JsonShow:
    """One JSON object a line; `kind` says which."""

    def begin(self, scenario: "Scenario", seed: int) -> None:
        """Write the seed and the scenario's name."""
        emit({"kind": "begin", "seed": seed, "scenario": scenario.name, "gpus": _gpus(scenario)})

    def step(self, step: Step, now: int) -> None:
        """Write findings and incidents as they change."""
        for finding in step.findings:
            emit({"kind": "finding", "now_unix_nano": now, "finding": finding})
        for incident in step.incidents:
            emit({"kind": "incident", "now_unix_nano": now, "incident": incident})

    def end(self, line: Line) -> None:
        """Write nothing: every revision was written when it came."""

    def here(self, sensors: Sensors) -> None:
        """Write the sensors of this machine."""
        emit({"kind": "here", "sensors": sensors})

    def score(self, score: Score) -> None:
        """Write the score."""
        emit({"kind": "score", "score": score, "perfect": score.perfect})


class TerminalShow:
    """Lines as things happen above a progress bar, then panels and the table."""

    def __init__(self, language: Language) -> None:
        self._language: Language = language
        self._console = console()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._begun = time.monotonic()
        self._first = 0
        self._told: dict[str, int] = {}

    def begin(self, scenario: "Scenario", seed: int) -> None:
        """Say what is simulated."""
        self._console.print(
            f"[bold]{escape(scenario.name)}[/bold]: {_gpus(scenario)} simulated GPUs, "
            f"{scenario.duration_seconds / 60:.0f} minutes, seed [cyan]{seed}[/cyan] "
            f"(again with [cyan]--seed {seed}[/cyan])"
        )
        self._progress.start()
        self._task = self._progress.add_task("simulated", total=scenario.duration_seconds)

    def step(self, step: Step, now: int) -> None:
        """Show findings that opened and incidents that changed."""
        self._first = self._first or now
        for finding in step.findings:
            if finding.seq == 1:
                self._progress.console.print(render.finding_line(finding, self._language))
        for incident in step.incidents:
            if self._told.get(incident.id) != incident.seq:
                self._told[incident.id] = incident.seq
                self._progress.console.print(render.incident_line(incident, self._language))
        self._progress.update(self._task, completed=(now - self._first) / NANOSECONDS)

    def end(self, line: Line) -> None:
        """Show every incident in full."""
        self._progress.stop()
        for incident in line.incidents():
            if incident.state != "merged":
                self._console.print()
                self._console.print(render.incident_panel(incident, self._language))

    def here(self, sensors: Sensors) -> None:
        """Show the real sensors of this machine, apart from the simulated cluster."""
        own = self._console
        own.print()
        own.rule(f"[bold]this machine: {escape(sensors.node)}[/bold] (real sensors)", align="left")
        outcomes = ", ".join(f"{count} {name}" for name, count in sorted(sensors.outcomes.items()))
        own.print(
            f"read {sensors.rounds} times: {sensors.signals} signals on {sensors.entities} "
            f"entities (series: {outcomes}); some of them:"
        )
        table = Table(box=None, header_style="dim", pad_edge=False)
        for head in ("entity", "signal", "value", "unit"):
            table.add_column(head, justify="right" if head == "value" else "left")
        for sample in sensors.examples:
            table.add_row(
                escape(entities.shown(sample.entity)),
                sample.signal,
                render.number(sample.value),
                sample.unit,
            )
        own.print(table)
        for finding in sensors.findings:
            own.print(render.finding_line(finding, self._language))

    def score(self, score: Score) -> None:
        """Show the table: injected, found, delay, cause; then the verdict."""
        self._console.print()
        self._console.print(_score_table(score.rows))
        for other in score.others:
            self._console.print(f"[red]raised without a fault behind it:[/red] {other}")
        right = sum(row.right for row in score.rows)
        style = "bold green" if score.perfect else "bold red"
        self._console.print(
            f"[{style}]{right} of {len(score.rows)} found with the cause first, "
            f"{len(score.others)} other incidents[/{style}] "
            f"in {seconds(time.monotonic() - self._begun)} of real time"
        )


def _score_table(rows: tuple[Row, ...]) -> Table:
    table = Table(header_style="bold", title="injected and found", title_justify="left")
    for head in ("injected", "where", "form", "d'", "found", "delay", "cause first", "expected"):
        table.add_column(head, justify="right" if head in {"d'", "delay"} else "left")
    for row in rows:
        mark = "[green]yes[/green]" if row.incident else "[red]no[/red]"
        cause = f"[green]{row.cause}[/green]" if row.right else f"[red]{row.cause or '-'}[/red]"
        table.add_row(
            row.mode.replace("_", " "), entities.shown(row.entity), row.form, f"{row.d_prime:.0f}",
            mark, seconds(row.delay_seconds), cause, " or ".join(row.expected),
        )  # fmt: skip
    return table


def _gpus(scenario: "Scenario") -> int:
    return scenario.fleet.nodes * scenario.fleet.gpus_per_node
