"""What may leave the node: sound numbers, and at most 20,000 series."""

import logging
import math
from collections import Counter

from exporters.collector import Measurement, failed
from forewarn.catalogue import CATALOGUE
from forewarn.records import Outcome
from forewarn.wire import MAX_POSITIONS

logger = logging.getLogger(__name__)


class Admission:
    """Counts the series of each collector and signal, and drops what is beyond the limit.

    First come, first served, in the order of the table; the agent's own signals come first.
    """

    def __init__(self, limit: int = MAX_POSITIONS) -> None:
        self.dropped = 0
        self._limit = limit
        self._held: dict[tuple[str, str], int] = {}
        self._bad: set[str] = set()
        self._told = False

    def admit(self, collector: str, measurements: list[Measurement]) -> list[Measurement]:
        """Return the measurements that may go, with unsound numbers turned into FAILED."""
        counts = Counter([m.signal for m in measurements])
        others = sum(
            count for (own, signal), count in self._held.items()
            if own != collector or signal not in counts
        )  # fmt: skip
        kept = measurements[: max(0, self._limit - others)]
        if len(kept) < len(measurements):
            self._drop(collector, len(measurements) - len(kept))
            counts = Counter([m.signal for m in kept])
        self._held.update({(collector, signal): count for signal, count in counts.items()})
        return [self.sound(m) for m in kept]

    def sound(self, measurement: Measurement) -> Measurement:
        """Return the measurement, FAILED if it is NaN or infinite where that may not be."""
        if measurement.outcome is not Outcome.OK or math.isfinite(measurement.value):
            return measurement
        if CATALOGUE[measurement.signal].may_be_nan:
            return measurement
        if measurement.signal not in self._bad:
            self._bad.add(measurement.signal)
            logger.warning(
                "%s of %s is %s, which it may not be: sent as failed",
                measurement.signal, measurement.entity, measurement.value,
            )  # fmt: skip
        return failed(measurement.signal, measurement.entity)

    def _drop(self, collector: str, count: int) -> None:
        self.dropped += count
        if not self._told:
            self._told = True
            logger.error(
                "more than %d series on this node: %d of collector %s are dropped each time",
                self._limit, count, collector,
            )  # fmt: skip
