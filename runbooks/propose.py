"""Says which entries people's verdicts call into question: proposals, never edits."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from forewarn.language import Text
from runbooks.score import Counts
from runbooks.table import Table

REFUTED = 3  # times
FAILED = 2  # times that one action did not help


class Proposal(msgspec.Struct, frozen=True):
    """One review that is due; `entry` is empty where an entry is missing."""

    entry: str
    rev: int
    reason: Text


def propose(
    table: Table,
    counts: Counts,
    failed_actions: Mapping[tuple[str, int, str], int] | None = None,
    unexplained: Sequence[str] = (),
) -> tuple[Proposal, ...]:
    """Return the reviews that are due.

    Due: an entry that was refuted three times (all hardware together) and more often than
    confirmed; an action (entry, revision, action id) that failed twice; an incident whose
    confirmed cause was not among the first three (`unexplained`, incident ids). Only the current
    revision of an entry counts: a new one starts anew.
    """
    found = [*_refuted(table, counts), *_failed(table, failed_actions or {})]
    found += [
        Proposal(
            "",
            0,
            Text(
                f"Incident {own}: no entry among the first three was its cause; write one.",
                f"事件 {own}：前三名中没有其真实原因，需补充条目。",
            ),
        )
        for own in unexplained
    ]
    return tuple(found)


def _refuted(table: Table, counts: Counts) -> Iterator[Proposal]:
    for entry in table.entries.values():
        own = [c for (name, rev, _), c in counts.items() if (name, rev) == (entry.id, entry.rev)]
        confirmed, refuted = sum(c.confirmed for c in own), sum(c.refuted for c in own)
        if refuted >= REFUTED and refuted > confirmed:
            reason = Text(
                f"Refuted {refuted} times, confirmed {confirmed}: review its evidence.",
                f"被否定 {refuted} 次、确认 {confirmed} 次：需复核其证据条件。",
            )
            yield Proposal(entry.id, entry.rev, reason)


def _failed(table: Table, failed_actions: Mapping[tuple[str, int, str], int]) -> Iterator[Proposal]:
    for (name, rev, action), count in sorted(failed_actions.items()):
        entry = table.get(name)
        if entry is not None and entry.rev == rev and count >= FAILED:
            reason = Text(
                f"Action {action} failed {count} times: review it.",
                f"处理步骤 {action} 失败 {count} 次：需复核。",
            )
            yield Proposal(name, rev, reason)
