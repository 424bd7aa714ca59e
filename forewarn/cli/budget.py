"""`forewarn budget`: the one knob, what it promised, and what became of it."""

import time
from typing import TYPE_CHECKING

import click

from forewarn.balance import Balance
from forewarn.cli.console import console, emit, json_option
from forewarn.cli.decide_client import DecideClient
from forewarn.cli.main import Invocation
from forewarn.language import Language

if TYPE_CHECKING:
    from rich.table import Table

# Row: English, Chinese; the values are put in by `rows`.
WORDS: dict[str, tuple[str, str]] = {
    "title": ("False incidents of learned families", "学习型检测的误报事件"),
    "budget": ("budget, a day", "预算（每天）"),
    "window": ("window, days", "统计窗口（天）"),
    "promised": ("promised (95 % interval)", "承诺（95 % 区间）"),
    "actual": ("actual, at least – at most", "实际，至少 – 至多"),
    "opened": ("opened", "已打开"),
    "confirmed": ("  confirmed: real", "  已确认（真实）"),
    "refuted": ("  refuted: false", "  已否定（误报）"),
    "unreviewed": ("  nobody has said", "  尚未评审"),
    "held_back": ("held back: would not have fitted", "被预算拦下"),
    "by_rules": ("by rules, outside the budget", "规则触发（不计入预算）"),
    "others": ("another number would have opened", "若改用其他数值，会打开"),
    "others_budget": ("budget, a day", "预算（每天）"),
    "others_open": ("incidents", "事件数"),
}


@click.command()
@click.option(
    "--days", type=click.FloatRange(0, 60, min_open=True), default=30.0, show_default=True
)
@json_option
@click.pass_obj
def budget(invocation: Invocation, days: float, as_json: bool) -> None:
    """Show the budget of false incidents: promised, opened, confirmed, refuted.

    The budget is detect.budget of the settings: how many false incidents a day learned thresholds
    may open on a healthy cluster. What events, fixed limits and silence open is counted apart.

    \b
    Examples:
      forewarn budget
      forewarn budget --days 7 --json
    """
    found = DecideClient(invocation.settings).balance(days, time.time_ns())
    if as_json:
        emit(found)
        return
    for table in tables(found, invocation.language):
        console().print(table)


def tables(found: Balance, language: Language) -> "tuple[Table, Table]":
    """Return the balance, and what other numbers would change."""
    from rich.table import Table

    own = Table(title=_word("title", language), title_justify="left", show_header=False)
    own.add_column()
    own.add_column(justify="right")
    for key, value in rows(found):
        own.add_row(_word(key, language), value)
    other = Table(title=_word("others", language), title_justify="left")
    other.add_column(_word("others_budget", language), justify="right")
    other.add_column(_word("others_open", language), justify="right")
    for row in found.others:
        other.add_row(f"{row.budget:g}", str(row.would_open))
    return own, other


def rows(found: Balance) -> list[tuple[str, str]]:
    """Return the lines of the balance: a key of WORDS, and the value."""
    least, most = found.actual
    low, high = found.promised_low, found.promised_high
    counts = ("opened", "confirmed", "refuted", "unreviewed", "held_back", "by_rules")
    return [
        ("budget", f"{found.budget:g}"),
        ("window", f"{found.days:.1f}"),
        ("promised", f"{found.promised:.1f} ({low} – {high})"),
        ("actual", f"{least} – {most}"),
        *((key, str(getattr(found, key))) for key in counts),
    ]


def _word(key: str, language: Language) -> str:
    return WORDS[key][language == "zh"]
