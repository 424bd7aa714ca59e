"""Findings and incidents as people read them in a terminal."""

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text as RichText

from forewarn import entity as entities
from forewarn.catalogue.movements import MOVEMENTS
from forewarn.cli.console import SEVERITY_STYLES, clock, seconds, utc
from forewarn.incident import Hypothesis, Incident, Point
from forewarn.language import Language, Text
from forewarn.records import NANOSECONDS, Finding

WORDS = {
    "cause": Text("cause", "原因"),
    "share": Text("share of evidence", "证据占比"),
    "for": Text("for", "支持"),
    "against": Text("against", "反对"),
    "missing": Text("not collected", "未采集"),
    "first step": Text("first step", "第一步"),
    "next check": Text("next check", "下一项检查"),
    "entity": Text("where", "位置"),
    "seen": Text("first seen", "首次发现"),
    "state": Text("state", "状态"),
    "severity": Text("severity", "级别"),
    "jobs": Text("jobs", "任务"),
    "drain": Text("drain", "隔离节点"),
    "id": Text("id", "编号"),
    "incident": Text("incident", "事件"),
    "other causes": Text("other causes", "其他可能原因"),
    "approval": Text("needs approval", "需审批"),
    "symptom": Text("symptom", "现象"),
    "confirmed": Text("confirmed", "确认"),
    "refuted": Text("refuted", "否定"),
    "opened": Text("opened", "开始"),
    "lasted": Text("lasted", "持续"),
    "signal": Text("signal", "信号"),
    "movement": Text("movement", "变化"),
    "observed": Text("observed", "观测值"),
    "expected": Text("expected", "预期值"),
    "surprise": Text("surprise", "意外度"),
    "unheard": Text("nobody speaks of it any more", "已无人上报"),
}
STATES = {
    "open": Text("open", "未处理"),
    "acknowledged": Text("acknowledged", "已接手"),
    "mitigated": Text("mitigated", "已缓解"),
    "resolved": Text("resolved", "已解决"),
    "closed": Text("closed", "已关闭"),
    "merged": Text("merged", "已合并"),
}
SEVERITIES = {
    "info": Text("info", "提示"),
    "minor": Text("minor", "次要"),
    "major": Text("major", "重要"),
    "critical": Text("critical", "严重"),
}
NO_UNIT = {"none", "code", "state", "bool"}
DRAIN = {
    "none": Text("no", "否"),
    "after_job": Text("after the job", "任务结束后"),
    "now": Text("now", "立即"),
    "rack": Text("the rack", "整机柜"),
}


def word(key: str, language: Language) -> str:
    """Return one of the fixed words in the language."""
    return WORDS[key].say(language)


def number(value: float | None) -> str:
    """Return a value with four significant digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def measured(value: float, unit: str) -> str:
    """Return a value with its unit, where it has one."""
    return number(value) if unit in NO_UNIT else f"{number(value)} {unit}"


def finding_line(finding: Finding, language: Language) -> RichText:
    """Return one line: time, severity, entity, signal, movement, observed against expected."""
    line = RichText(f"{clock(finding.opened_at_unix_nano)}  ", style="dim")
    line.append("finding   ", style="blue")
    line.append(f"{entities.shown(finding.entity)}  ", style="bold")
    line.append(f"{finding.code or finding.signal} ")
    line.append(f"{finding.movement}", style=SEVERITY_STYLES[finding.severity])
    if finding.observed is not None:
        line.append(f"  {measured(finding.observed, finding.unit)}")
    if finding.expected is not None:
        line.append(f" (expected {number(finding.expected)})", style="dim")
    elif not finding.code:
        row = MOVEMENTS[finding.movement]
        meaning = row.meaning_zh if language == "zh" else row.meaning_en
        line.append(f"  {meaning}", style="dim")
    return line


def incident_line(incident: Incident, language: Language) -> RichText:
    """Return one line: time, severity, title, entity, leading cause and its share."""
    style = SEVERITY_STYLES[incident.severity]
    line = RichText(f"{clock(incident.updated_at_unix_nano)}  ", style="dim")
    line.append(f"{word('incident', language)}  ", style="magenta")
    line.append(f"{STATES[incident.state].say(language)} ", style=style)
    line.append(f"{incident.title.say(language)}", style=f"bold {style}")
    line.append(f"  {entities.shown(incident.entity)}", style="bold")
    lead = leading(incident)
    if lead is not None:
        line.append(f"  {lead.entry} {lead.share:.0%}", style="dim")
    return line


def leading(incident: Incident) -> Hypothesis | None:
    """Return the first cause, if there is one."""
    return incident.hypotheses[0] if incident.hypotheses else None


def _points(points: Iterable[Point], mark: str, style: str, language: Language) -> list[RichText]:
    return [RichText(f"  {mark} {point.text.say(language)}", style=style) for point in points]


def _verdicts(counts: tuple[int, int], language: Language) -> str:
    """Return what people said of this cause: how often confirmed, how often refuted."""
    named = zip(("confirmed", "refuted"), counts, strict=True)
    return ", ".join(f"{word(key, language)} {count}" for key, count in named if count)


def _hypothesis(own: Hypothesis, language: Language) -> list[RenderableType]:
    head = RichText()
    kind = "symptom" if own.kind == "symptom" else "cause"
    head.append(f"{word(kind, language)}: ", style="dim")
    head.append(f"{own.title.say(language)}", style="bold")
    head.append(f"  {own.entry}@{own.rev}", style="cyan")
    head.append(f"  {word('share', language)} {own.share:.0%}", style="dim")
    if sum(own.counts):
        head.append(f"  {_verdicts(own.counts, language)}", style="green")
    lines: list[RenderableType] = [head]
    for key, points, mark, style in (
        ("for", own.support, "+", "green"),
        ("against", own.against, "-", "red"),
        ("missing", own.missing, "?", "dim"),
    ):
        if points:
            lines.append(RichText(f"{word(key, language)}:", style="dim"))
            lines += _points(points, mark, style, language)
    return lines


def _steps(own: Hypothesis, language: Language) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for key, step in (("first step", own.first_step), ("next check", own.next_check)):
        if step is None:
            continue
        line = RichText(f"{word(key, language)}: ", style="dim")
        line.append(step.text.say(language), style="bold")
        if step.needs_approval:
            line.append(f"  ({word('approval', language)})", style="yellow")
        lines.append(line)
        if step.command:
            lines.append(RichText(f"  {to_copy(step.kind, step.command)}", style="cyan"))
    lines.append(RichText(f"{word('drain', language)}: {DRAIN[own.drain].say(language)}", "dim"))
    return lines


def to_copy(kind: str, text: str) -> str:
    """Return what to copy with a mark of where it goes: `$` a shell, `PromQL:` Prometheus."""
    return f"PromQL: {text}" if kind == "query" else f"$ {text}"


def incident_panel(incident: Incident, language: Language, causes: int = 1) -> Panel:
    """Return the whole incident: facts, causes with evidence for and against, first step."""
    facts = Table.grid(padding=(0, 2))
    for key, value in (
        ("id", incident.id),
        ("entity", entities.shown(incident.entity)),
        ("seen", utc(incident.first_evidence_at_unix_nano)),
        ("state", _state(incident, language)),
        ("jobs", ", ".join(map(entities.shown, incident.jobs)) or "-"),
    ):
        facts.add_row(RichText(word(key, language), style="dim"), escape(value))
    body: list[RenderableType] = [facts, RichText()]
    for place, own in enumerate(incident.hypotheses[:causes]):
        body += _hypothesis(own, language)
        if place == 0 and own.entry != "unknown":
            body += _steps(own, language)
    others = [f"{h.entry} {h.share:.0%}" for h in incident.hypotheses[causes : causes + 4]]
    if others:
        body.append(RichText(f"{word('other causes', language)}: {', '.join(others)}", "dim"))
    title = f"[bold]{escape(incident.title.say(language))}[/bold]"
    return Panel(Group(*body), title=title, title_align="left", border_style=_border(incident))


def _state(incident: Incident, language: Language) -> str:
    state, severity = STATES[incident.state], SEVERITIES[incident.severity]
    comma = "，" if language == "zh" else ", "
    return f"{state.say(language)}{comma}{severity.say(language)}"


def _border(incident: Incident) -> str:
    return "green" if incident.state == "resolved" else SEVERITY_STYLES[incident.severity]


def incident_table(incidents: Iterable[Incident], language: Language) -> Table:
    """Return a table of incidents, one a row."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for key in ("id", "state", "severity", "seen", "entity", "cause"):
        table.add_column(word(key, language), overflow="fold", no_wrap=key in {"id", "seen"})
    for incident in incidents:
        lead = leading(incident)
        cause = f"{lead.entry} {lead.share:.0%}" if lead else "-"
        table.add_row(
            incident.id,
            STATES[incident.state].say(language),
            RichText(
                SEVERITIES[incident.severity].say(language), SEVERITY_STYLES[incident.severity]
            ),
            utc(incident.first_evidence_at_unix_nano),
            escape(entities.shown(incident.entity)),
            f"{escape(incident.title.say(language))}  [dim]{cause}[/dim]",
        )
    return table


def _observed(own: Finding) -> str:
    """Return the value; of an event there is none to show, but for a value that is no number."""
    if own.observed is not None:
        return measured(own.observed, own.unit)
    return "-" if own.value_class == "code" else own.value_class


def _lasted(own: Finding, incident: Incident, language: Language) -> str:
    """Return how long a finding has lasted, and whether nobody can say that it is over."""
    end = own.closed_at_unix_nano or own.updated_at_unix_nano
    lasted = seconds((end - own.opened_at_unix_nano) / NANOSECONDS)
    return f"{lasted} ({word('unheard', language)})" if own.id in incident.not_collected else lasted


def _left_out(incident: Incident, language: Language) -> str:
    more, still = incident.evidence_left_out, incident.evidence_left_out_open
    english = f"and {more} more that tell less, {still} of them not over"
    return Text(english, f"另有 {more} 项次要证据，其中 {still} 项未结束").say(language)


def evidence_table(incident: Incident, console: Console, language: Language) -> None:
    """Print the findings of an incident, oldest first."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for key in (
        "opened",
        "lasted",
        "entity",
        "signal",
        "movement",
        "observed",
        "expected",
        "surprise",
    ):
        table.add_column(word(key, language), overflow="fold")
    for own in sorted(incident.evidence, key=lambda finding: finding.opened_at_unix_nano):
        table.add_row(
            clock(own.opened_at_unix_nano),
            _lasted(own, incident, language),
            escape(entities.shown(own.entity)),
            escape(own.code or own.signal),
            own.movement,
            _observed(own),
            number(own.expected),
            f"{own.surprise:.0f}",
        )
    console.print(table)
    if incident.evidence_left_out:
        console.print(RichText(_left_out(incident, language), style="dim"))
