from collections.abc import Callable
from typing import Any

import pytest

from runbooks.checks import best_check, gain

Make = Callable[..., Any]
BOTH = {"en": "x", "zh": "某"}


def check(
    own: str, minutes: float = 5, read_only: bool = True, **moves: list[str]
) -> dict[str, Any]:
    return {
        "id": own, "text": BOTH, "kind": "manual", "minutes": minutes, "read_only": read_only,
        "moves": [{"result": BOTH, **moves}] if moves else [],
    }  # fmt: skip


def test_check_that_tells_apart_gains_and_others_do_not(entry: Make) -> None:
    splits = check("a", supports=["AA-01"], refutes=["BB-01"])
    both = check("b", supports=["AA-01", "BB-01"])
    own = entry("AA-01", checks=[splits, both, check("c")])
    shares = {"AA-01": 0.5, "BB-01": 0.5}
    gains = [gain(c, shares) for c in own.checks]
    assert gains[0] > 0.2
    assert gains[1] == pytest.approx(0)
    assert gains[2] == 0


def test_nothing_is_gained_on_what_is_sure(entry: Make) -> None:
    own = entry("AA-01", checks=[check("a", supports=["AA-01"], refutes=["BB-01"])])
    assert gain(own.checks[0], {"AA-01": 1.0, "BB-01": 0.0}) == pytest.approx(0)
    assert gain(own.checks[0], {}) == 0


def test_best_check_gains_most_a_minute_and_reads_only(entry: Make) -> None:
    splits = {"supports": ["AA-01"], "refutes": ["BB-01"]}
    shares = {"AA-01": 0.5, "BB-01": 0.5}
    slow, fast = check("slow", 30, **splits), check("fast", 2, **splits)
    writes = check("writes", 1, read_only=False, **splits)
    best = best_check([entry("AA-01", checks=[slow, fast, writes])], shares)
    assert best is not None
    assert (best.id, best.minutes) == ("AA-01/fast", 2)
    only = best_check([entry("AA-01", checks=[writes])], shares)
    assert only is not None
    assert only.id == "AA-01/writes"
    assert best_check([entry("AA-01")], shares) is None
