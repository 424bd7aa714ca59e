"""Answers of the runbook and whole entries as people read them in a terminal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text as RichText

from forewarn.cli.console import SEVERITY_STYLES
from forewarn.cli.render import DRAIN, SEVERITIES, to_copy
from forewarn.language import Language, Text

if TYPE_CHECKING:
    from runbooks import Answer, Entry, Hit
    from runbooks.model import Action, Check

HEADS = {
    "summary": Text("What it is", "是什么"),
    "first_question": Text("First question", "首要问题"),
    "leads_to": Text("Leads to", "指向"),
    "need": Text("Seen when", "必要证据"),
    "support": Text("Speaks for it", "支持证据"),
    "against": Text("Speaks against it", "反对证据"),
    "causes": Text("What is behind it", "深层原因"),
    "checks": Text("Checks", "检查"),
    "immediate": Text("Do now", "立即处置"),
    "long_term": Text("Do later", "长期措施"),
    "conflicts": Text("Sources disagree", "各方说法不一"),
    "sources": Text("Sources", "来源"),
    "draft": Text(
        "draft: the facts of the failure mode; its checks and actions are not complete yet",
        "草稿：仅含故障模式的事实，检查与处置尚不完整",
    ),
    "score": Text("score", "得分"),
    "approval": Text("needs approval", "需审批"),
    "precondition": Text("before", "前提"),
    "verify": Text("afterwards", "验证"),
    "rollback": Text("back", "回退"),
    "drain": Text("drain", "隔离"),
}

KINDS = {
    "cause": Text("cause", "原因"),
    "symptom": Text("symptom", "现象"),
    "outcome": Text("outcome", "后果"),
}
GRADES = {
    "V": Text("vendor or maker", "厂商"),
    "P": Text("practice or paper", "实践或论文"),
    "J": Text("judgement", "判断"),
}


def _say(key: str, language: Language) -> str:
    return HEADS[key].say(language)


def answer(out: Console, own: "Answer", language: Language) -> None:
    """Print the hits, best first, each with why it matched."""
    for note in own.notes:
        out.print(RichText(note.say(language), style="yellow"))
    for hit in own.hits:
        _hit(out, hit, language)


def _kind(own: "Entry", language: Language) -> str:
    comma = "，" if language == "zh" else ", "
    return comma.join(text.say(language) for text in (KINDS[own.kind], SEVERITIES[own.severity]))


def _hit(out: Console, hit: "Hit", language: Language) -> None:
    entry = hit.entry
    line = RichText(f"{entry.id:<12}", style="cyan")
    line.append(entry.title.say(language), style="bold")
    line.append(f"  {_kind(entry, language)}", style=SEVERITY_STYLES[entry.severity])
    line.append(f"  {_say('score', language)} {hit.score:.1f}", style="dim")
    if hit.draft:
        line.append("  [draft]" if language == "en" else "  [草稿]", style="yellow")
    out.print(line)
    for why in hit.why:
        out.print(Padding(RichText(f"· {why.say(language)}", style="dim"), (0, 0, 0, 12)))
    first = next((action for action in entry.actions if action.when == "immediate"), None)
    if first is not None:
        out.print(Padding(RichText(f"→ {first.text.say(language)}"), (0, 0, 0, 12)))


def entry(out: Console, own: "Entry", language: Language) -> None:
    """Print one entry whole."""
    title = f"[bold]{escape(own.title.say(language))}[/bold]  [cyan]{own.id}@{own.rev}[/cyan]"
    style = SEVERITY_STYLES[own.severity]
    out.print(f"{title}  [{style}]{_kind(own, language)}[/{style}]  {own.layer}")
    if own.status == "draft":
        out.print(RichText(_say("draft", language), style="yellow"))
    out.print(f"[dim]{_say('drain', language)}: {DRAIN[own.drain].say(language)}[/dim]")
    _paragraph(out, "summary", own.summary.say(language), language)
    _paragraph(out, "first_question", own.first_question.say(language), language)
    _list(out, "leads_to", (f"{k}: {', '.join(v)}" for k, v in own.leads_to.items()), language)
    _evidence(out, own, language)
    _list(out, "causes", (cause.say(language) for cause in own.causes), language)
    _checks(out, own.checks, language)
    for when in ("immediate", "long_term"):
        _actions(out, when, [own for own in own.actions if own.when == when], language)
    conflicts = (f"{c.source}: {c.says.say(language)}" for c in own.conflicts)
    _list(out, "conflicts", conflicts, language)
    _list(
        out,
        "sources",
        (f"{s.ref} ({GRADES[s.grade].say(language)})" for s in own.sources),
        language,
    )


def _head(out: Console, key: str, language: Language) -> None:
    out.print()
    out.print(RichText(_say(key, language), style="bold underline"))


def _paragraph(out: Console, key: str, text: str, language: Language) -> None:
    if text:
        _head(out, key, language)
        out.print(RichText(text))


def _list(out: Console, key: str, lines: Iterable[str], language: Language) -> None:
    found = list(lines)
    if found:
        _head(out, key, language)
        for line in found:
            out.print(Padding(RichText(f"- {line}"), (0, 0, 0, 2)))


def _evidence(out: Console, own: "Entry", language: Language) -> None:
    from runbooks.render import predicate_text

    for key in ("need", "support", "against"):
        texts = (predicate_text(predicate).say(language) for predicate in getattr(own, key))
        _list(out, key, texts, language)


def _checks(out: Console, checks: "Iterable[Check]", language: Language) -> None:
    found = list(checks)
    if not found:
        return
    _head(out, "checks", language)
    for number, check in enumerate(found, 1):
        out.print(Padding(RichText(f"{number}. {check.text.say(language)}"), (0, 0, 0, 2)))
        if check.run:
            out.print(
                RichText(f"     {to_copy(check.kind, check.run)}", style="cyan"), soft_wrap=True
            )
        for move in check.moves:
            ids = [f"+{own}" for own in move.supports] + [f"-{own}" for own in move.refutes]
            text = f"{move.result.say(language)}: {' '.join(ids)}"
            out.print(Padding(RichText(text, style="dim"), (0, 0, 0, 5)))


def _actions(out: Console, when: str, actions: "Iterable[Action]", language: Language) -> None:
    found = list(actions)
    if not found:
        return
    _head(out, when, language)
    for number, action in enumerate(found, 1):
        line = RichText(f"{number}. {action.text.say(language)}")
        if action.approval:
            line.append(f"  ({_say('approval', language)})", style="yellow")
        out.print(Padding(line, (0, 0, 0, 2)))
        for key in ("precondition", "verify", "rollback"):
            text = getattr(action, key).say(language)
            if text:
                out.print(Padding(RichText(f"{_say(key, language)}: {text}", "dim"), (0, 0, 0, 5)))
