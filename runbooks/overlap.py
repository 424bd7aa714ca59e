"""Finds causes that the evidence alone cannot tell apart."""

from collections.abc import Iterator
from itertools import combinations

from runbooks.evidence import parts
from runbooks.model import Entry, Move, Predicate
from runbooks.table import Table
from runbooks.weights import overlaps

Key = tuple[str, str, str, tuple[str, ...]]


def ambiguous_pairs(table: Table) -> Iterator[tuple[Entry, Entry, str]]:
    """Yield pairs of causes with the same needs, or one's among the other's, that nothing links.

    What links: an edge, absorbing, an `against` that is the other's need or support, or a check of
    either whose result speaks for one and not for the other.
    """
    causes = [entry for entry in table.living() if entry.kind == "cause" and entry.need]
    for one, other in combinations(causes, 2):
        mine, theirs = _needs(one), _needs(other)
        if one.status != other.status or not (mine <= theirs or theirs <= mine):
            continue
        if not (_linked(one, other) or _linked(other, one)):
            yield one, other, "the same as" if mine == theirs else "among or around"


def _needs(entry: Entry) -> frozenset[frozenset[Key]]:
    return frozenset(_keys(need) for need in entry.need)


def _keys(predicate: Predicate) -> frozenset[Key]:
    if predicate.any:
        return frozenset().union(*(_keys(own) for own in predicate.any))
    codes = tuple(sorted(predicate.codes))
    return frozenset({(predicate.signal, str(predicate.movement), str(predicate.at), codes)})


def _linked(one: Entry, other: Entry) -> bool:
    if any(edge.to == other.id for edge in one.edges) or other.id in one.absorbs:
        return True
    if _speaks_against(one, other):
        return True
    return any(_decides(one, other, move.supports, move.refutes) for move in _moves(one))


def _speaks_against(one: Entry, other: Entry) -> bool:
    theirs = [part for own in (*other.need, *other.support) for part in parts(own)]
    mine = [part for own in one.against for part in parts(own)]
    return any(overlaps(a, b) for a in mine for b in theirs)


def _moves(entry: Entry) -> Iterator[Move]:
    return (move for check in entry.checks for move in check.moves)


def _decides(one: Entry, other: Entry, supports: tuple[str, ...], refutes: tuple[str, ...]) -> bool:
    for_one = (one.id in supports) - (one.id in refutes)
    for_other = (other.id in supports) - (other.id in refutes)
    return for_one != for_other and (for_other != 0 or for_one < 0)
