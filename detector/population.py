"""Entities by number, and which entity each slot belongs to: the array view of the index."""

import numpy as np
from numpy.typing import NDArray

from detector.series import BLOCK, Series

Numbers = NDArray[np.int32]  # memory counts: one a series


class Population:
    """Follows the series; numbers never change once given."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._numbers: dict[str, int] = {}
        self._version = -1
        self.entities: list[str] = []
        self.of_slot: Numbers = np.zeros(0, np.int32)  # -1: nobody's

    def refresh(self) -> bool:
        """Take new series in; say whether there were any."""
        if self._version == self._series.version:
            return False
        self._version = self._series.version
        for block in self._series.blocks:
            start = block.number * BLOCK
            if len(self.of_slot) >= start:
                self._add(block.names[len(self.of_slot) - start :])
            if block is not self._series.blocks[-1]:
                missing = max(0, start + BLOCK - len(self.of_slot))
                self.of_slot = np.append(self.of_slot, np.full(missing, -1, np.int32))
        self.entities = list(self._numbers)
        return True

    def _add(self, names: list[str]) -> None:
        found = [self._numbers.setdefault(own, len(self._numbers)) for own in names]
        self.of_slot = np.append(self.of_slot, np.array(found, np.int32))
