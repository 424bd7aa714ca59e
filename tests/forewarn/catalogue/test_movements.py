"""Movements: the closed list, its kinds and families."""

from typing import get_args

from forewarn.catalogue import CATALOGUE, FAMILIES, MOVEMENTS, Kind, Movement
from forewarn.catalogue.movements import CONDITIONS


def test_every_movement_has_one_row() -> None:
    assert tuple(MOVEMENTS) == get_args(Movement)
    assert all(row.name == name for name, row in MOVEMENTS.items())


def test_kinds_and_families_are_of_the_closed_lists() -> None:
    for row in MOVEMENTS.values():
        assert row.kinds
        assert row.kinds <= set(Kind)
        assert row.families
        assert row.families <= set(FAMILIES)


def test_every_family_can_say_something() -> None:
    assert set(FAMILIES) == {family for row in MOVEMENTS.values() for family in row.families}


def test_every_kind_in_the_catalogue_can_move() -> None:
    kinds = {kind for row in MOVEMENTS.values() for kind in row.kinds}
    assert {signal.kind for signal in CATALOGUE.values()} <= kinds


def test_every_movement_is_told_in_both_languages() -> None:
    for row in MOVEMENTS.values():
        assert row.meaning_en.isascii()
        assert any("一" <= letter <= "鿿" for letter in row.meaning_zh)


def test_conditions_are_movements() -> None:
    assert set(MOVEMENTS) > CONDITIONS
