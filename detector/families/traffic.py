"""How much passed through what an error counter counts: errors come per byte, not per hour.

Where the bytes of the same port are read in the same frame, an interval counts as its length times
its traffic over the usual one; else, and where nothing passes usually, as its length.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.series import BLOCK, F32, Block, Bool, Series, Wave, floats

# How far traffic is believed: an idle port makes some errors, and a full one has ten times the
# usual traffic at most before its rate says nothing of its link.
LEAST, MOST = 0.1, 10.0
MEMORY_SECONDS = 3600.0


def _nowhere() -> NDArray[np.int32]:
    return np.full(BLOCK, -1, np.int32)


@dataclass(slots=True, eq=False)
class Traffic:
    """Of one block: where the traffic of each series is read, and what it usually is."""

    by: NDArray[np.int32] = field(default_factory=_nowhere)  # local slot; -1: not read
    usual: F32 = field(default_factory=floats)  # bytes per second; 0: not known yet

    def link(self, series: Series, block: Block, local: int) -> None:
        """Find the traffic of a series: the first of its contexts that is one of bytes."""
        for name in block.signal(local).context:
            slot = series.find(name, block.entity(local)) if "bytes" in name else None
            if slot is not None and series.at(slot)[0] is block:
                self.by[local] = series.at(slot)[1]
                return

    def shares(self, wave: Wave) -> F32:
        """Return the traffic of each row over the usual one, within bounds; 1 where unknown."""
        own, usual = self._now(wave), self.usual[wave.rows]
        known = np.isfinite(own) & (usual > 0)
        share = np.clip(own / np.where(known, usual, 1), LEAST, MOST)
        return np.where(known, share, 1).astype(np.float32)

    def absorb(self, wave: Wave, take: Bool) -> None:
        """Move the usual traffic, which fades over an hour."""
        own, usual, rows = self._now(wave), self.usual[wave.rows], wave.rows
        take = take & np.isfinite(own)
        gain = np.where(usual > 0, np.clip(wave.dt / MEMORY_SECONDS, 0, 1), 1)
        self.usual[rows] = np.where(take, usual + gain * (own - usual), usual)

    def _now(self, wave: Wave) -> NDArray[Any]:
        by = self.by[wave.rows]
        return np.where(by >= 0, wave.block.latest[by], np.nan)
