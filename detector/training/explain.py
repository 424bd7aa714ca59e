"""Explains one series of tidy tables, as `detector.explain` does one of a recording."""

from collections.abc import Sequence
from pathlib import Path

from detector.bundle import Model
from detector.explain import Explanation, Watching
from detector.training import tidy
from detector.training.learner import Learner
from forewarn.inventory import Inventory


def of_tables(
    paths: Sequence[Path], entity: str, signal: str, at: float | None, window_seconds: float,
    model: Model | None = None,
) -> Explanation:  # fmt: skip
    """Run tables through the families up to a time (Unix seconds) and explain one series.

    Raises NotJudgedError, TidyError.
    """
    learner = Learner(Inventory())
    if model is not None:
        learner.families.adopt(model.arrays)
    own = Watching(learner.series, learner.families, entity, signal, at, window_seconds)
    learner.listen(own)
    for path in paths:
        rows = tidy.read(path)
        slots = learner.place(rows.names)
        for instant in tidy.instants(rows):
            if at is not None and instant.second > at:
                break
            own.found(learner.take(instant, slots))
    return own.explain(model.card.model_id if model else "")
