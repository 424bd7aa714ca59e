"""What holds for every family and every signal of the catalogue."""

import numpy as np
import pytest

from detector.families import FAMILIES, floors
from detector.families.normal import NORMAL
from forewarn import codes
from forewarn.catalogue import CATALOGUE, MOVEMENTS
from tests.detector.families.test_context import Room
from tests.detector.feed import Bench


def test_every_floor_table_names_signals_of_the_catalogue():
    assert set(floors.SIGNALS) <= set(CATALOGUE)
    assert set(CATALOGUE) >= floors.LOAD | floors.FLOW


def test_every_unit_of_a_banded_signal_has_an_effect_floor():
    banded = [signal for signal in CATALOGUE.values() if floors.banded(signal)]
    missing = {
        signal.unit
        for signal in banded
        if signal.unit not in floors.UNITS and signal.name not in floors.SIGNALS
    }
    assert missing <= {"flops_per_second", "tokens_per_second", "samples_per_second",
                       "joules_per_token", "joules_per_step"}  # fmt: skip


def test_no_signal_is_both_a_level_and_a_count_of_errors():
    assert not [s.name for s in CATALOGUE.values() if floors.banded(s) and floors.errors(s)]


def test_normal_codes_are_in_namespaces_of_the_catalogue():
    known = {codes.namespace(code) for code in NORMAL}
    assert known <= set(CATALOGUE)


def test_every_family_of_the_table_may_emit_something():
    assert all(any(family in row.families for row in MOVEMENTS.values()) for family in FAMILIES)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_snapshot_restores_into_a_new_engine(number):
    """A scorer that is restored scores the next wave as the one it was copied from."""
    room = Room()
    room.cycle(6)
    old = room.bench.engine
    fresh = Bench().engine
    pairs = [(old.series.blocks[0].signal(i).name, e) for i, e in
             enumerate(old.series.blocks[0].names)]  # fmt: skip
    fresh.series.place(pairs)
    one, two = old.families.scorers[number], fresh.families.scorers[number]
    assert one.family == two.family
    for scorer, engine in ((one, old), (two, fresh)):
        scorer.snapshot(engine.series.blocks[0])
    if one.family == "context":
        two.take(_nothing(fresh))
    copied = one.snapshot(old.series.blocks[0])
    two.restore(fresh.series.blocks[0], copied)
    again = two.snapshot(fresh.series.blocks[0])
    assert copied.keys() == again.keys()
    for name, array in copied.items():
        np.testing.assert_array_equal(array, again[name])


def _nothing(engine):
    from detector.series import Wave  # noqa: PLC0415

    block = engine.series.blocks[0]
    zeros = np.zeros(block.used, np.float32)
    return Wave(block, slice(0, block.used), zeros, zeros, zeros, zeros.astype(float),
                np.zeros(block.used, np.bool_))  # fmt: skip
