"""The closed list of movements: how a signal can be wrong, and which family says so."""

from typing import Literal, get_args

import msgspec

Movement = Literal[
    "event", "up", "down", "step_up", "step_down", "spike", "zero", "stuck", "flap",
    "above", "below", "absent", "mismatch", "outlier", "grows", "nonzero", "all",
]  # fmt: skip
Family = Literal[
    "band", "context", "joint", "peers", "counter", "progress", "trend", "silence", "event"
]
FAMILIES: tuple[Family, ...] = get_args(Family)


class MovementRow(msgspec.Struct, frozen=True):
    """One movement: what it means, the kinds of signal it fits, the families that emit it."""

    name: Movement
    kinds: frozenset[str]
    families: frozenset[str]
    meaning_en: str
    meaning_zh: str


def _row(name: Movement, kinds: str, families: str, en: str, zh: str) -> MovementRow:
    return MovementRow(name, frozenset(kinds.split()), frozenset(families.split()), en, zh)


MOVEMENTS: dict[Movement, MovementRow] = {
    row.name: row
    for row in (
        _row("event", "event counter state gauge", "event counter progress",
             "arrived, rose at all, took a bad value or was not a number",
             "出现、计数增加、进入异常状态或为 NaN"),
        _row("up", "gauge counter", "band context joint counter trend",
             "is lastingly above what is normal for it", "持续高于正常水平"),
        _row("down", "gauge counter", "band context joint trend",
             "is lastingly below what is normal for it", "持续低于正常水平"),
        _row("step_up", "gauge counter event", "band progress event",
             "jumped and stayed there", "阶跃上升并保持"),
        _row("step_down", "gauge counter", "band progress",
             "fell and stayed there", "阶跃下降并保持"),
        _row("spike", "gauge counter", "band counter progress",
             "left its normal range and came back", "短时偏离后恢复"),
        _row("zero", "gauge counter state", "band counter event",
             "is exactly 0 where it should not be", "在不应为零时为零"),
        _row("stuck", "gauge counter", "silence progress",
             "is frozen, or stopped while it should go on", "停滞不变或进度中断"),
        _row("flap", "state event", "event",
             "went bad and back again and again", "反复异常又恢复"),
        _row("above", "gauge counter state", "band counter event",
             "is beyond its limit", "超过限值"),
        _row("below", "gauge counter state", "band event",
             "is under its limit", "低于限值"),
        _row("absent", "gauge counter state event", "silence",
             "has no value though its source collects it", "数据源在采集但没有数值"),
        _row("mismatch", "gauge state event", "event",
             "differs from what is expected of the device", "与应有配置不一致"),
        _row("outlier", "gauge counter state event", "peers",
             "differs from its peers at the same instant", "与同伴明显不同"),
        _row("grows", "gauge counter event", "counter trend progress event",
             "keeps rising faster than expected", "持续增长，快于预期"),
        _row("nonzero", "gauge counter state event", "event counter",
             "is not 0", "不为零"),
        _row("all", "gauge counter state event", "peers",
             "shows the same on every peer", "所有同伴表现一致"),
    )
}  # fmt: skip
# Tested on the latest reading when an incident is judged; with a value they are no findings.
CONDITIONS: frozenset[Movement] = frozenset({"above", "below"})
