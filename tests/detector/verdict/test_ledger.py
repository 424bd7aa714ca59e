"""Identity, updates that matter, closing, cooling down, bounds."""

import msgspec
import pytest

from detector.verdict import ledger as module
from detector.verdict.ledger import COOL_SECONDS, UPDATE_SECONDS, Key, Ledger, identity
from forewarn.records import Finding

KEY: Key = ("node/n1", "node_inlet_temperature_celsius", "band")


def _finding(**more) -> Finding:
    fields = {
        "id": "x", "cluster": "c", "entity": KEY[0], "signal": KEY[1], "family": "band",
        "movement": "up", "value_class": "number", "opened_at_unix_nano": 1,
        "updated_at_unix_nano": 1, "effect": 1.5, **more,
    }  # fmt: skip
    return msgspec.convert(fields, Finding)


def _opened() -> Ledger:
    own = Ledger()
    assert own.open(KEY, _finding(), 0.0) is not None
    return own


def test_identity_is_the_same_on_every_path_and_differs_in_every_part():
    parts = ("c", "e", "s", "band", 7)
    assert identity(*parts) == identity(*parts)
    others = [("d", *parts[1:]), ("c", "f", *parts[2:]), ("c", "e", "t", "band", 7),
              ("c", "e", "s", "context", 7), ("c", "e", "s", "band", 8)]  # fmt: skip
    assert len({identity(*own) for own in [parts, *others]}) == 6


def test_small_change_is_not_told_before_a_minute():
    own = _opened()
    assert own.update(KEY, UPDATE_SECONDS - 1, effect=1.6) is None
    told = own.update(KEY, UPDATE_SECONDS, effect=1.6)
    assert told is not None
    assert told.seq == 2


@pytest.mark.parametrize("change", [{"effect": 3.0}, {"effect": -3.0}, {"severity": "critical"}])
def test_material_change_is_told_at_once(change):
    assert _opened().update(KEY, 1.0, **change) is not None


def test_closing_sets_the_time_and_cools_down():
    own = _opened()
    closed = own.close(KEY, 50.0)
    assert closed is not None
    assert closed.closed_at_unix_nano == 50_000_000_000
    assert own.cooling(KEY, 50.0 + COOL_SECONDS - 1)
    assert not own.cooling(KEY, 50.0 + COOL_SECONDS)
    assert own.close(KEY, 51.0) is None


def test_full_ledger_refuses_and_counts(monkeypatch):
    monkeypatch.setattr(module, "MAX_OPEN", 1)
    own = _opened()
    assert own.open(("node/n2", *KEY[1:]), _finding(), 0.0) is None
    assert own.refused == 1
