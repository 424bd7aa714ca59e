"""Runs the cases that an entry carries: named evidence, and what must come of it."""

from collections.abc import Iterator, Mapping

import msgspec

from forewarn import entity as entities
from forewarn.catalogue import CATALOGUE, MOVEMENTS, Family, Kind
from forewarn.incident import Hypothesis
from forewarn.inventory import Inventory
from forewarn.records import NANOSECONDS, Finding, InventoryItem, ValueClass
from runbooks.evidence import Evidence
from runbooks.match import match
from runbooks.model import Case, CaseFinding, Entry
from runbooks.rank import UNKNOWN, rank
from runbooks.table import Table

CLUSTER = "case"
_START = 1_750_000_000 * NANOSECONDS  # any fixed time: cases are about differences


class Outcome(msgspec.Struct, frozen=True):
    """How a case went; `message` says what came instead."""

    entry: str
    case: str
    passed: bool
    message: str = ""


def run(table: Table, entry: Entry) -> tuple[Outcome, ...]:
    """Run all cases of `entry` against the whole table."""
    return tuple(_run(table, entry, case) for case in entry.tests)


def hypotheses(table: Table, case: Case) -> tuple[Hypothesis, ...]:
    """Return what the runbook makes of a case's evidence."""
    own = evidence(case)
    return rank(table, match(table, own), own, {})


def evidence(case: Case) -> Evidence:
    """Return a case's findings with an inventory that collects what the case says."""
    inventory = Inventory()
    for entity, names in _collected(case).items():
        item = InventoryItem(CLUSTER, entity, _START, collects={"case": tuple(sorted(names))})
        inventory.apply(item)
    findings = [_finding(own, i, case) for i, own in enumerate(case.findings)]
    return Evidence(findings, inventory, _job(case))


def _run(table: Table, entry: Entry, case: Case) -> Outcome:
    ranked = hypotheses(table, case)
    place = next((i for i, own in enumerate(ranked, 1) if own.entry == entry.id), None)
    unknown = next(i for i, own in enumerate(ranked, 1) if own.entry == UNKNOWN)
    leader = f"first is {ranked[0].entry}"
    if not case.expect.match:
        # A candidate that scores less than "not in the runbook" is no claim.
        failed = place is not None and place < unknown
        return Outcome(
            entry.id, case.name, not failed, f"matches at rank {place}" if failed else ""
        )
    if place is None or place > unknown:
        return Outcome(entry.id, case.name, False, f"does not match; {leader}")
    wanted = case.expect.rank
    if wanted is not None and place > wanted:
        message = f"stands at rank {place}, not {wanted}; {leader}"
        return Outcome(entry.id, case.name, False, message)
    return Outcome(entry.id, case.name, True)


def _collected(case: Case) -> Mapping[str, set[str]]:
    found = {entity: set(names) for entity, names in case.collected.items()}
    for finding in case.findings:
        found.setdefault(finding.entity, set()).add(finding.signal)
    return found


def _job(case: Case) -> str:
    """Return the one job of a case, if it speaks of one."""
    return next((entities.plain(own.split("/")[1]) for own in _jobs(case)), "")


def _jobs(case: Case) -> Iterator[str]:
    for own in (*(f.entity for f in case.findings), *case.collected):
        if own.startswith("job/"):
            yield own


def _finding(own: CaseFinding, number: int, case: Case) -> Finding:
    time = _START + int(own.seconds * NANOSECONDS)
    row = CATALOGUE[own.signal]
    is_event = row.kind is Kind.EVENT
    kind: ValueClass = "code" if is_event else "number"
    return Finding(
        id=f"case-{number}",
        cluster=CLUSTER,
        entity=own.entity,
        signal=own.signal,
        family=_family(own, is_event),
        movement=own.movement,
        value_class=kind,
        opened_at_unix_nano=time,
        updated_at_unix_nano=time,
        code=own.code,
        observed=own.value,
        unit=row.unit,
        severity="major",
        job=_job(case),
    )


def _family(own: CaseFinding, is_event: bool) -> Family:
    """Return a family that emits the movement."""
    order: tuple[Family, ...] = (
        "event", "progress", "counter", "band", "context", "peers", "silence", "trend", "joint"
    )  # fmt: skip
    emits = MOVEMENTS[own.movement].families
    return next(f for f in (order if is_event else order[1:] + order[:1]) if f in emits)
