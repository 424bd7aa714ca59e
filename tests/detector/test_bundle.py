"""A model on disk: what is written is read again; what is not ours, not whole or not yet known is
refused with its reason."""

import hashlib
import io
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from detector.bundle import ARRAYS, CARD, Arrays, BundleError, Model, load, load_card, save
from detector.compare import compare
from detector.families.context import FEATURES
from tests.detector.families.test_context import GPUS, Room
from tests.detector.trained import model_of, names


@pytest.fixture(scope="module")
def model():
    room = Room()
    room.cycle(10)
    return model_of(room.bench.engine)


@pytest.fixture
def folder(model, tmp_path):
    save(tmp_path, model)
    return tmp_path


def edit(folder, **changes):
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps({**card, **changes}))


def test_model_is_read_as_it_was_written(model, folder):
    again = load(folder, FEATURES)
    for own in Arrays.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(again.arrays, own), getattr(model.arrays, own))
    assert names(again.arrays) == [("gpu_temperature_celsius", gpu) for gpu in GPUS]
    assert again.card.model_id.startswith("m")


def test_same_content_has_the_same_id_and_other_content_another(model, tmp_path):
    one, two = save(tmp_path / "a", model), save(tmp_path / "b", model)
    arrays = replace(model.arrays, context_minutes=model.arrays.context_minutes + 1)
    other = save(tmp_path / "c", Model(model.card, arrays))
    assert one.model_id == two.model_id != other.model_id


def damage(folder):
    content = bytearray((folder / ARRAYS).read_bytes())
    content[len(content) // 2] ^= 0xFF
    (folder / ARRAYS).write_bytes(content)


def pickled(folder):
    """Put objects in the arrays, with a card that vouches for them."""
    held = io.BytesIO()
    evil = np.array([{"a": 1}], dtype=object)
    np.savez(held, **dict.fromkeys(Arrays.__dataclass_fields__, evil))
    (folder / ARRAYS).write_bytes(held.getvalue())
    edit(folder, arrays_sha256=hashlib.sha256(held.getvalue()).hexdigest())


SPOILT = {
    "no such folder": (lambda own: (own / CARD).unlink(), "missing", CARD),
    "arrays gone": (lambda own: (own / ARRAYS).unlink(), "missing", ARRAYS),
    "a byte flipped": (damage, "damaged", "not what its card was written for"),
    "arrays cut": (lambda own: (own / ARRAYS).write_bytes(b"PK"), "damaged", ARRAYS),
    "pickled objects": (pickled, "damaged", "allow_pickle"),
    "a pickle as card": (lambda own: (own / CARD).write_bytes(pickle.dumps(1)), "foreign", CARD),
    "another program's": (lambda own: edit(own, format="sklearn"), "foreign", "sklearn"),
    "a newer version": (lambda own: edit(own, version=99), "newer", "version 99"),
    "card without a field": (lambda own: (own / CARD).write_text('{"format": "forewarn-model", '
                             '"version": 1}'), "damaged", "model_id"),
    "other features": (lambda own: edit(own, context_features=["one"]), "other_features", "one"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_what_is_no_good_model_is_refused_with_its_reason(name, folder):
    spoil, reason, told = SPOILT[name]
    spoil(folder)
    with pytest.raises(BundleError) as caught:
        load(folder, FEATURES)
    assert caught.value.reason == reason
    assert told in str(caught.value)


def test_numbers_that_are_not_finite_are_refused(model, tmp_path):
    spread = np.full_like(model.arrays.spread_median, np.nan)
    save(tmp_path, Model(model.card, replace(model.arrays, spread_median=spread)))
    with pytest.raises(BundleError, match="spread_median"):
        load(tmp_path, FEATURES)


def test_card_alone_can_be_read_by_people_and_programs(folder):
    assert load_card(folder).rows == 9600
    assert "validation" in json.loads((folder / CARD).read_text())


def test_compare_says_which_gain_rose(model):
    sums = model.arrays.context_pool_sums.copy()
    size = len(FEATURES)
    sums[:, size**2 : size**2 + size] *= 1.2
    two = Model(model.card, replace(model.arrays, context_pool_sums=sums))
    changes = compare(model, two)
    assert changes[0].what == "gain (per load unit)"
    assert changes[0].ratio == pytest.approx(0.2, abs=0.01)
    assert all(own.ratio == 0 for own in changes[1:])
