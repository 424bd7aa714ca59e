"""Draws the balance of the budget from decide's database."""

from typing import Annotated

import msgspec

from detector.incidents.budget import DAY_NANO, Charge, would_open
from detector.incidents.charges import ChargeStore
from detector.incidents.store import Store
from forewarn.balance import Balance, Other, poisson_interval

FACTORS = (0.25, 0.5, 2.0, 4.0)  # of the budget: what other numbers would change


class BudgetQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The window: `days` before `until`, ns since 1970."""

    days: Annotated[float, msgspec.Meta(gt=0, le=60)] = 30.0
    until: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class _Row(msgspec.Struct, frozen=True):
    """An incident of the window: what was said of it last is what counts."""

    id: str
    confirmed: bool
    refuted: bool


def balance(store: Store, budget: float, query: BudgetQuery) -> Balance:
    """Return the balance of a window, from the first thing that is known. Raises StoreError."""
    since = query.until - round(query.days * DAY_NANO)
    charges = [
        own for own in ChargeStore(store.database).since(since) if own.time_unix_nano <= query.until
    ]
    rows = _rows(store, since, query.until)
    days = _days(store, since, query.until)
    low, high = poisson_interval(budget * days)
    learned = {own.incident for own in charges if own.incident}
    mine = [own for own in rows if own.id in learned]
    confirmed = sum(own.confirmed for own in mine)
    refuted = sum(own.refuted and not own.confirmed for own in mine)
    return Balance(
        budget=budget, until_unix_nano=query.until, days=days, promised=budget * days,
        promised_low=low, promised_high=high, opened=len(mine), confirmed=confirmed,
        refuted=refuted, unreviewed=len(mine) - confirmed - refuted,
        held_back=sum(not own.incident for own in charges), by_rules=len(rows) - len(mine),
        others=_others(charges, budget, days),
    )  # fmt: skip


def _others(charges: list[Charge], budget: float, days: float) -> tuple[Other, ...]:
    numbers = (factor * budget for factor in FACTORS)
    return tuple(Other(own, would_open(charges, own, days)) for own in numbers)


def _rows(store: Store, since: int, until: int) -> list[_Row]:
    with store.database.read() as connection:
        rows = connection.execute(
            "SELECT id, EXISTS (SELECT 1 FROM feedback f WHERE f.incident = i.id"
            " AND verdict = 'confirmed'), EXISTS (SELECT 1 FROM feedback f"
            " WHERE f.incident = i.id AND verdict = 'refuted') FROM incidents i"
            " WHERE state != 'merged' AND first_evidence_at BETWEEN ? AND ?",
            (since, until),
        ).fetchall()
    return [_Row(id_, bool(confirmed), bool(refuted)) for id_, confirmed, refuted in rows]


def _days(store: Store, since: int, until: int) -> float:
    """Return the length of the window, in days, from the first thing that is known."""
    with store.database.read() as connection:
        (first,) = connection.execute(
            "SELECT min(time) FROM (SELECT min(first_evidence_at) AS time FROM incidents"
            " UNION ALL SELECT min(time) FROM charges)"
        ).fetchone()
    begin = since if first is None else max(since, first)
    return max(0.0, (until - begin) / DAY_NANO)
