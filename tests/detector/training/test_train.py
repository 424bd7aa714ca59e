"""Training on history, whole and spoilt: the model is near the truth, and nothing floods."""

import numpy as np
import pandas as pd
import pytest

from detector.bundle import load, save
from detector.families.context import FEATURES, LOADS
from detector.training.train import NothingLearnedError, train
from forewarn.errors import ForewarnError
from forewarn.recording import Writer
from tests.detector.families.test_context import Room
from tests.detector.training.history import (
    CORE,
    GPUS,
    KELVIN_PER_100_WATTS,
    MINUTES,
    POWER,
    T0,
    between,
    history,
)


def learn(table, tmp_path, parts=1):
    """Train on a table, in so many files one after the other."""
    edges = np.quantile(table["time"], np.linspace(0, 1, parts + 1))
    paths = []
    for part in range(parts):
        last = np.inf if part == parts - 1 else edges[part + 1]
        own = table[(table["time"] >= edges[part]) & (table["time"] < last)]
        paths.append(tmp_path / f"part{part}.csv")
        own.to_csv(paths[-1], index=False)
    return train(paths, None, lambda _name, _seconds: None)


def gain(model):
    """Return the pooled kelvin per 100 W of the core's temperature."""
    at = model.arrays.context_pools.tolist().index(f"{CORE} ")
    size, sums = len(FEATURES), model.arrays.context_pool_sums[at]
    within = sums[: size**2].reshape(size, size)
    hold = np.diag(1e-3 * np.maximum(np.diag(within), 1e-6))
    beta = np.linalg.solve(within + hold, sums[size**2 : size**2 + size])
    return beta[LOADS].sum()


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    return learn(history(), tmp_path_factory.mktemp("healthy"))


def test_model_knows_its_devices_and_its_days(healthy, tmp_path):
    model, report = healthy
    card = load(tmp_path, FEATURES).card if save(tmp_path, model) else None
    assert (card.rows, card.series, card.entities) == (report.rows, 16, 8)
    assert card.until_unix_seconds - card.from_unix_seconds == pytest.approx((MINUTES - 1) * 60)
    assert gain(model) == pytest.approx(KELVIN_PER_100_WATTS, rel=0.05)
    assert card.left_out == ()


def test_last_fifth_is_judged_before_it_is_learned_from(healthy):
    checked = healthy[0].card.validation
    assert checked.days == pytest.approx(0.2 * MINUTES / 1440, rel=0.4)
    assert checked.signals[CORE].samples > 0
    assert checked.signals[CORE].rare_ratio < 0.03
    assert checked.findings == 0


def test_fault_in_the_last_fifth_is_a_finding_of_the_validation(tmp_path):
    table = history()
    table.loc[between(table, 0.9, 1) & (table["entity"] == GPUS[2]) & (table["signal"] == CORE),
              "value"] += 15  # fmt: skip
    model, _ = learn(table, tmp_path)
    assert model.card.validation.findings == 1


def test_files_one_after_the_other_are_one_history(healthy, tmp_path):
    model, report = learn(history(), tmp_path, parts=3)
    assert report.late == 0
    for one, two in zip(model.arrays.context_equations, healthy[0].arrays.context_equations,
                        strict=True):  # fmt: skip
        np.testing.assert_allclose(one, two, rtol=1e-5)


def poisoned(table):
    """One part in twenty of the time, half of the devices run hot."""
    hot = between(table, 0.4, 0.45) & (table["signal"] == CORE) & table["entity"].isin(GPUS[:4])
    table.loc[hot, "value"] *= 1.4
    return table


def a_day_missing(table):
    return table[~between(table, 0.3, 0.5)]


def unit_changed(table):
    """For a while somebody sent milliwatts."""
    table.loc[between(table, 0.5, 0.6) & (table["signal"] == POWER), "value"] *= 1000
    return table


def nan_everywhere(table):
    table.loc[between(table, 0.5, 0.7), "value"] = np.nan
    return table


def constants(table):
    """Two sensors stand still."""
    table.loc[table["entity"].isin(GPUS[:2]) & (table["signal"] == CORE), "value"] = 40.0
    return table


def renamed(table):
    table.loc[between(table, 0.6, 1) & (table["entity"] == GPUS[1]), "entity"] = "node/new/gpu/0"
    return table


def clock_stepped(table):
    """The clock went back by ten minutes in the middle."""
    table.loc[between(table, 0.5, 1), "time"] -= 600
    return table


@pytest.mark.parametrize(
    "spoil", [poisoned, a_day_missing, unit_changed, nan_everywhere, constants, renamed,
              clock_stepped],
)  # fmt: skip
def test_spoilt_history_neither_floods_nor_blinds(spoil, tmp_path):
    model, _ = learn(spoil(history()), tmp_path)
    assert gain(model) == pytest.approx(KELVIN_PER_100_WATTS, rel=0.1)
    assert model.card.validation.findings <= 2


def test_device_unlike_all_others_is_left_out_and_named(tmp_path):
    table = history()
    core = (table["signal"] == CORE) & (table["entity"] == GPUS[3])
    watts = table.loc[(table["signal"] == POWER) & (table["entity"] == GPUS[3]), "value"]
    table.loc[core, "value"] += 0.05 * watts.to_numpy()
    model, _ = learn(table, tmp_path)
    assert model.card.left_out == (f"{CORE} {GPUS[3]}",)
    assert GPUS[3] not in model.arrays.context_entities.tolist()


def test_hardware_models_of_the_inventory_have_coefficients_of_their_own(tmp_path):
    history().to_csv(tmp_path / "a.csv", index=False)
    models = pd.DataFrame({"entity": GPUS, "model": ["old"] * 4 + ["new"] * 4})
    models.to_csv(tmp_path / "inventory.csv", index=False)
    own, _ = train([tmp_path / "a.csv"], tmp_path / "inventory.csv", lambda _n, _s: None)
    assert own.arrays.context_pools.tolist() == [f"{CORE} old", f"{CORE} new"]


def test_recording_teaches_the_same_families(tmp_path):
    room, messages = Room(), []
    room.bench.feed = lambda *own: messages.extend(own) or []
    room.cycle(8)
    with Writer(tmp_path / "a.fwrec", "c") as writer:
        for message in messages:
            writer.write(message)
    model, report = train([tmp_path / "a.fwrec"], None, lambda _n, _s: None)
    assert (report.rows, report.unusable) == (len(messages), 0)
    assert model.card.series == 16
    assert sorted(set(model.arrays.context_signals.tolist())) == [CORE]


def test_nothing_to_learn_from_is_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time,entity,signal,value\n")
    with pytest.raises(NothingLearnedError):
        train([path], None, lambda _n, _s: None)


def test_recordings_and_tables_do_not_mix(tmp_path):
    with pytest.raises(ForewarnError, match="not both"):
        train([tmp_path / "a.fwrec", tmp_path / "b.csv"], None, lambda _n, _s: None)


def test_times_are_told_while_it_goes_on(tmp_path):
    history(60).to_csv(tmp_path / "a.csv", index=False)
    told = []
    train([tmp_path / "a.csv"], None, lambda name, seconds: told.append((name, seconds)))
    assert told[0] == ("a.csv", T0)
    assert told[-1] == ("a.csv", T0 + 59 * 60)
