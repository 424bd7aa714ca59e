"""Checks the whole table: what a file can be wrong about only beside the others, or in content."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Literal

from runbooks import cases
from runbooks.emits import openers, unseen
from runbooks.language_rules import language_faults
from runbooks.model import Action, Entry
from runbooks.overlap import ambiguous_pairs
from runbooks.table import Problem, Table
from runbooks.vendor_actions import SOURCE, bucket

Severity = Literal["error", "warning"]
Fault = tuple[str, str, Severity]  # key, message, severity
DISRUPTIVE = frozenset({"medium", "high"})


def lint(table: Table, today: dt.date | None = None) -> tuple[Problem, ...]:
    """Return all that is wrong with the table: errors first, then by entry.

    Left-out files are among them. `today` is the day that review dates are held against.
    """
    day = today or dt.datetime.now(tz=dt.UTC).date()
    found = [*table.problems]
    for entry in table.entries.values():
        for rule in RULES:
            found += _problems(table, entry, rule(table, entry))
        found += _problems(table, entry, _expiry(entry, day))
    found += _across(table)
    return tuple(sorted(found, key=lambda p: (p.severity != "error", p.entry, p.where, p.key)))


def _problems(table: Table, entry: Entry, faults: Iterable[Fault]) -> Iterator[Problem]:
    where = table.where.get(entry.id, "runbook:1")
    for key, message, severity in faults:
        yield Problem(where, key, message, severity, entry.id)


def _names(_: Table, entry: Entry) -> Iterator[Fault]:
    for key, own in (("checks", entry.checks), ("actions", entry.actions)):
        ids = [step.id for step in own]
        for twice in sorted({name for name in ids if ids.count(name) > 1}):
            yield key, f"{twice!r} stands twice; ids differ within an entry", "error"


def _file_name(table: Table, entry: Entry) -> Iterator[Fault]:
    file = table.where.get(entry.id, "").rpartition(":")[0]
    if file and PurePosixPath(file).stem != entry.id:
        yield (
            "id",
            f"{entry.id} stands in a file of another name; call it {entry.id}.yaml",
            "warning",
        )


def _references(table: Table, entry: Entry) -> Iterator[Fault]:
    for key, own in _references_of(entry):
        if own not in table.entries:
            yield key, f"refers to {own}, which is no entry", "error"
        elif own == entry.id:
            yield key, "refers to the entry itself", "error"


def _references_of(entry: Entry) -> Iterator[tuple[str, str]]:
    yield from ((f"edges[{i}].to", edge.to) for i, edge in enumerate(entry.edges))
    yield from (("absorbs", own) for own in entry.absorbs if ":" not in own)
    yield from (("supersedes", own) for own in entry.supersedes if own != entry.id)
    for answer, entries in entry.leads_to.items():
        yield from ((f"leads_to.{answer}", own) for own in entries)
    for i, check in enumerate(entry.checks):
        for move in check.moves:
            own_moves = {*move.supports, *move.refutes} - {entry.id}
            yield from ((f"checks[{i}].moves", own) for own in sorted(own_moves))


def _evidence(_: Table, entry: Entry) -> Iterator[Fault]:
    """A need that no family can emit, and an entry that nothing opens, can never match."""
    if entry.status == "deprecated":
        return
    for path, message in unseen(entry):
        yield path, message, "error"
    if entry.need and not openers(entry):
        yield "need", "holds conditions only; nothing in it is found without asking", "error"
    if not entry.need and not entry.codes:
        yield "need", "is empty and there are no codes: the entry can never match", "error"


def _safety(_: Table, entry: Entry) -> Iterator[Fault]:
    """A disruptive action of an active entry is approved, has a condition, and is verified."""
    for i, action in enumerate(entry.actions):
        if action.risk not in DISRUPTIVE:
            continue
        severity: Severity = "error" if entry.status == "active" else "warning"
        if not action.approval:
            yield (
                f"actions[{i}].approval",
                f"{action.id} is disruptive and needs approval",
                severity,
            )
        if entry.status == "active":
            yield from _unguarded(action, f"actions[{i}]")


def _unguarded(action: Action, path: str) -> Iterator[Fault]:
    for key, text in (("precondition", action.precondition), ("verify", action.verify)):
        if not (text.en and text.zh):
            yield f"{path}.{key}", f"{action.id} is disruptive and needs it, en and zh", "error"


def _complete(_: Table, entry: Entry) -> Iterator[Fault]:
    """What an active entry must hold beside its evidence."""
    if entry.status != "active":
        return
    if not entry.sources:
        yield "sources", "is empty; say where the facts are from", "error"
    if entry.review_by is None:
        yield "review_by", "is missing; an active entry has a day of review", "error"
    if entry.kind == "symptom":
        if not entry.leads_to or not entry.first_question.en:
            yield "leads_to", "a symptom asks a first question and leads to entries", "error"
    elif not any(action.when == "immediate" for action in entry.actions):
        yield "actions", "has no immediate step", "error"
    drains = {action.verb for action in entry.actions} & {"drain_node", "drain_rack", "move_job"}
    if entry.drain in {"now", "rack"} and not drains:
        yield "drain", f"is {entry.drain}, and no action drains", "warning"


def _cases(table: Table, entry: Entry) -> Iterator[Fault]:
    """An active entry carries cases of both kinds, and they pass."""
    if entry.status == "active":
        for wanted, name in ((True, "positive"), (False, "negative")):
            if not any(case.expect.match is wanted for case in entry.tests):
                yield "tests", f"holds no {name} case", "error"
    for i, outcome in enumerate(cases.run(table, entry)):
        if not outcome.passed:
            yield f"tests[{i}]", f"{outcome.case!r}: {outcome.message}", "error"


def _vendor(_: Table, entry: Entry) -> Iterator[Fault]:
    """A step that the maker's sheet does not advise for the code is told as a conflict."""
    codes = {*entry.codes, *(c for need in entry.need for c in need.codes)}
    verbs = {a.verb for a in entry.actions if a.when == "immediate" and a.risk in DISRUPTIVE}
    if any("nvidia" in conflict.source.casefold() for conflict in entry.conflicts):
        return
    for code in sorted(codes):
        advice = bucket(code)
        if advice and advice.verbs and (other := verbs - advice.verbs):
            severity: Severity = "error" if entry.status == "active" else "warning"
            said = f"{SOURCE} on {code}: {advice.says.en}; here: {', '.join(sorted(other))}"
            yield "conflicts", f"{said}; list it, source {SOURCE}", severity


def _expiry(entry: Entry, today: dt.date) -> Iterator[Fault]:
    if entry.review_by is not None and entry.review_by < today:
        yield "review_by", f"was {entry.review_by}; review the entry and raise rev", "warning"


def _languages(_: Table, entry: Entry) -> Iterator[Fault]:
    for key, message, is_error in language_faults(entry):
        yield key, message, "error" if is_error else "warning"


RULES: tuple[Callable[[Table, Entry], Iterable[Fault]], ...] = (
    _names,
    _file_name,
    _references,
    _evidence,
    _safety,
    _complete,
    _cases,
    _vendor,
    _languages,
)


def _across(table: Table) -> Iterator[Problem]:
    """Check what lies between entries: circles of causes, and causes nothing tells apart."""
    if circle := _circle(table):
        entry = table.entries[circle[0]]
        message = f"causes go round in a circle: {' -> '.join(circle)}"
        yield from _problems(table, entry, [("edges", message, "error")])
    for one, other, how in ambiguous_pairs(table):
        severity: Severity = "error" if {one.status, other.status} == {"active"} else "warning"
        message = f"needs are {how} {other.id}'s; link them by an edge or add a check that decides"
        yield from _problems(table, one, [("need", message, severity)])


def _circle(table: Table) -> list[str]:
    """Return the entries of one circle of edges, empty if there is none."""
    done: set[str] = set()
    for start in table.entries:
        path: list[str] = []
        if found := _descend(table, start, path, done):
            return found
    return []


def _descend(table: Table, own: str, path: list[str], done: set[str]) -> list[str]:
    if own in path:
        return [*path[path.index(own) :], own]
    if own in done or own not in table.entries:
        return []
    path.append(own)
    for edge in table.entries[own].edges:
        if found := _descend(table, edge.to, path, done):
            return found
    path.pop()
    done.add(own)
    return []
