from collections.abc import Callable
from typing import Any

import msgspec

from runbooks import propose

Make = Callable[..., Any]


class Count(msgspec.Struct, frozen=True):
    confirmed: int
    refuted: int


def test_reviews_that_are_due(table: Make) -> None:
    own = table({"id": "AA-01"}, {"id": "BB-01"}, {"id": "CC-01", "rev": 2})
    counts = {
        ("AA-01", 1, "h100"): Count(0, 2),
        ("AA-01", 1, "a100"): Count(1, 1),
        ("BB-01", 1, "h100"): Count(5, 3),
        ("CC-01", 1, "h100"): Count(0, 9),
    }
    found = propose(own, counts, {("BB-01", 1, "drain"): 2, ("AA-01", 1, "look"): 1}, ["I1"])
    assert [(p.entry, p.rev) for p in found] == [("AA-01", 1), ("BB-01", 1), ("", 0)]
    assert found[0].reason.en == "Refuted 3 times, confirmed 1: review its evidence."
    assert "drain" in found[1].reason.zh
    assert "I1" in found[2].reason.en


def test_nothing_is_due_without_verdicts(builtin: Any) -> None:
    assert propose(builtin, {}) == ()
