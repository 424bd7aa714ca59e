from collections.abc import Callable
from typing import Any

import msgspec

from runbooks import Table
from runbooks.cases import run
from runbooks.model import Predicate

Make = Callable[..., Any]


def test_cases_of_all_active_entries_pass(builtin: Table) -> None:
    outcomes = [o for entry in builtin.entries.values() for o in run(builtin, entry)]
    assert len(outcomes) >= 70
    assert [f"{o.entry} {o.case}: {o.message}" for o in outcomes if not o.passed] == []


def test_cases_notice_an_entry_that_lost_its_evidence(builtin: Table) -> None:
    """Take the needs of each active cause away: some case of it must fail."""
    for entry in builtin.entries.values():
        if entry.status != "active" or entry.kind != "cause":
            continue
        other = (Predicate(signal="switch.sm_state", movement="event", at="switch"),)
        hollow = msgspec.structs.replace(entry, need=other, support=(), codes=())
        table = Table({**builtin.entries, entry.id: hollow})
        assert not all(o.passed for o in run(table, hollow)), entry.id


def test_rank_that_is_missed_is_told(builtin: Table) -> None:
    entry = builtin.entries["TRN-04"]
    positive = next(case for case in entry.tests if case.expect.match)
    nan = tuple(f for f in positive.findings if f.signal == "job.nan")
    case = msgspec.structs.replace(
        positive, findings=nan, expect=msgspec.structs.replace(positive.expect, rank=1)
    )
    outcome = run(builtin, msgspec.structs.replace(entry, tests=(case,)))[0]
    assert not outcome.passed
    assert "first is" in outcome.message
