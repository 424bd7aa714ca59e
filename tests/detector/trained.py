"""A small model, made of what the GPUs of a test room taught an engine."""

from detector.bundle import Arrays, Card, Model, Validation
from detector.engine import Engine
from detector.families.context import FEATURES
from detector.training.collect import collect


def model_of(engine: Engine) -> Model:
    """Return what an engine has learned as a model."""
    arrays, out = collect(engine.series, engine.families, {}, 0)
    return Model(card(out), arrays)


def card(left_out: tuple[str, ...] = ()) -> Card:
    """Return the card of a model of ten minutes."""
    checked = Validation(from_unix_seconds=300.0, days=0.1, findings=0, findings_per_day=0.0)
    return Card(
        model_id="", made_by="test", sources=("room",), from_unix_seconds=0.0,
        until_unix_seconds=600.0, rows=9600, series=16, entities=8, context_features=FEATURES,
        validation=checked, left_out=left_out,
    )  # fmt: skip


def names(arrays: Arrays) -> list[tuple[str, str]]:
    """Return the (signal, entity) pairs that have equations of their own."""
    pairs = zip(arrays.context_signals.tolist(), arrays.context_entities.tolist(), strict=True)
    return list(pairs)
