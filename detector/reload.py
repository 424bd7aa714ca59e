"""Looks whether the model on disk changed, and hands over the new one; a bad one is told, once."""

import logging
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Info

from detector.bundle import CARD, REFUSALS, BundleError, Model, load
from detector.families.context import FEATURES

logger = logging.getLogger(__name__)
LOOK_SECONDS = 5.0
Stamp = tuple[int, int, int]


class Reload:
    """The model at `[detect] model`; without a path it never has one."""

    def __init__(self, path: str, registry: CollectorRegistry) -> None:
        self._path = Path(path) if path else None
        self._stamp: Stamp | None = None
        self._due = 0.0
        self._told = ""
        self._refused = Counter(
            "forewarn_models_refused", "Models that could not be used, by reason.", ("reason",),
            registry=registry,
        )  # fmt: skip
        for reason in REFUSALS:
            self._refused.labels(reason)
        self._info = Info("forewarn_model", "The model that is in use.", registry=registry)

    def look(self, monotonic_seconds: float) -> Model | None:
        """Return the model if it is new since the last look; the old one stays on any trouble."""
        if self._path is None or monotonic_seconds < self._due:
            return None
        self._due = monotonic_seconds + LOOK_SECONDS
        stamp = _stamp(self._path / CARD)
        if stamp is not None and stamp == self._stamp:
            return None
        try:
            model = load(self._path, FEATURES)
        except BundleError as error:
            self._refuse(error)
            return None
        self._stamp, self._told = stamp, ""
        self._info.info({"model_id": model.card.model_id, "made_by": model.card.made_by})
        logger.info("detect: model %s is in use", model.card.model_id)
        return model

    def _refuse(self, error: BundleError) -> None:
        if str(error) == self._told:
            return
        self._told = str(error)
        self._refused.labels(error.reason).inc()
        logger.error("detect: the model is refused, what was learned stays: %s", error)


def _stamp(path: Path) -> Stamp | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino
