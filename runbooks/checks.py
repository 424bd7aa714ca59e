"""The next best check: the one that is expected to tell the candidates apart soonest."""

import math
from collections.abc import Iterable, Mapping

from forewarn.incident import Step
from runbooks.model import Check, Entry, Move

# How likely a result is under a cause that it speaks for, against, or not at all (relative).
SPEAKS_FOR, NEUTRAL, SPEAKS_AGAINST = 8.0, 1.0, 0.125


def best_check(entries: Iterable[Entry], shares: Mapping[str, float]) -> Step | None:
    """Return the check with the largest expected drop of entropy a minute, read-only first.

    `shares` are the present shares of the candidates. Checks without moves tell nothing that can
    be computed: they come last, in the order of the entries.
    """
    ranked = [
        ((not check.read_only, -gain(check, shares) / check.minutes, place), entry, check)
        for place, (entry, check) in enumerate((e, c) for e in entries for c in e.checks)
    ]
    if not ranked:
        return None
    _, entry, check = min(ranked, key=lambda item: item[0])
    return Step(f"{entry.id}/{check.id}", check.text, check.run, check.minutes, kind=check.kind)


def gain(check: Check, shares: Mapping[str, float]) -> float:
    """Return by how many nats the check is expected to lower the entropy of `shares`."""
    total = sum(shares.values())
    if not check.moves or total <= 0:
        return 0.0
    prior = {entry: share / total for entry, share in shares.items()}
    moves = check.moves if len(check.moves) > 1 else (*check.moves, _otherwise(check.moves[0]))
    left = 0.0
    for move in moves:
        joint = {e: p * _likelihood(move, moves, e) for e, p in prior.items()}
        left += sum(joint.values()) * _entropy(joint.values())
    return max(0.0, _entropy(prior.values()) - left)


def _otherwise(move: Move) -> Move:
    """Return the result that a check with one written result has besides it."""
    return Move(result=move.result, supports=move.refutes, refutes=move.supports)


def _likelihood(move: Move, moves: Iterable[Move], entry: str) -> float:
    return _odds(move, entry) / sum(_odds(own, entry) for own in moves)


def _odds(move: Move, entry: str) -> float:
    if entry in move.supports:
        return SPEAKS_FOR
    return SPEAKS_AGAINST if entry in move.refutes else NEUTRAL


def _entropy(weights: Iterable[float]) -> float:
    own = [w for w in weights if w > 0]
    total = sum(own)
    return -sum(w / total * math.log(w / total) for w in own) if total > 0 else 0.0
