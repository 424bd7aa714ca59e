import math

import pytest

from exporters.job import signals
from exporters.job.lines import Step
from forewarn.catalogue import CATALOGUE


def step(**fields: object) -> Step:
    return Step(step=1, time_unix_nano=5, **fields)  # type: ignore[arg-type]


def test_every_signal_is_of_the_catalogue_and_of_its_entity() -> None:
    for table, kind in ((signals.JOB_FIELDS, "job"), (signals.RANK_FIELDS, "rank"),
                        (signals.RATES, "job")):  # fmt: skip
        assert {CATALOGUE[signal].entity for signal in table.values()} == {kind}
        assert set(table) <= set(Step.__struct_fields__)


@pytest.mark.parametrize(
    ("value", "bad"), [("nan", True), ("inf", True), ("-inf", True), (2.0, False), (None, False)]
)
def test_a_step_is_bad_by_its_loss_or_its_gradient(value: object, bad: bool) -> None:
    assert signals.bad_step(step(loss=value)) is bad
    assert signals.bad_step(step(gradient_norm=value)) is bad


def test_only_what_was_reported_is_told() -> None:
    found = list(signals.of_fields(step(loss="nan"), signals.JOB_FIELDS, "job/1"))
    assert [(m.signal, math.isnan(m.value)) for m in found] == [("job_loss", True)]


def test_rates_are_over_the_time_of_the_step() -> None:
    found = list(signals.rates(step(tokens=100.0, samples=4.0, step_seconds=0.5), "job/1"))
    assert [(m.signal, m.value) for m in found] == [
        ("job_tokens_per_second", 200.0),
        ("job_samples_per_second", 8.0),
    ]
    assert list(signals.rates(step(tokens=100.0), "job/1")) == []
    assert list(signals.rates(step(tokens=100.0, step_seconds=0.0), "job/1")) == []
