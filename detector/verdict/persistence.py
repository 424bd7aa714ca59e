"""One sample convinces nobody: k of the last n must be surprising, large enough and alike.

Facts: single-tick thresholds at 1 Hz over 300,000 series are a dead end (43 million a day, or
silence); persistence and an effect floor take most of it, at a delay that is written down here.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.families.contract import Score
from detector.series import (
    BLOCK,
    F32,
    F64,
    Block,
    Bool,
    Ints,
    Wave,
    doubles,
    flags,
    floats,
    registers,
    signs,
    small,
)
from detector.verdict.rates import OWN, Rates
from detector.verdict.strength import SURPRISE, Strengths, severity

LEAD = 0.02  # how fast the memory of "where it stood before" moves, per sample
FREEZE_SECONDS = 6 * 3600.0  # what lasts longer than this becomes the new normal


class Need(NamedTuple):
    """`k` of the last `n` samples; `calm` quiet samples in a row close."""

    k: int
    n: int
    calm: int


# By the signal's period in seconds: 12 s at 1 Hz, 30 s at 0.1 Hz, 2 min at 1/min.
NEEDS: dict[int, Need] = {1: Need(12, 16, 30), 10: Need(3, 5, 6), 60: Need(2, 3, 3)}


@dataclass(slots=True, eq=False)
class Registers:
    """Bit registers of one block: the latest sample is bit 0."""

    hot: NDArray[np.uint32] = field(default_factory=registers)
    need: NDArray[np.uint8] = field(default_factory=small)
    window: NDArray[np.uint32] = field(default_factory=registers)
    calm: NDArray[np.uint32] = field(default_factory=registers)
    sign: NDArray[np.int8] = field(default_factory=signs)
    lead: F32 = field(default_factory=floats)  # slow mean of the effect while nothing was hot
    open: Bool = field(default_factory=flags)
    lesser: Bool = field(default_factory=flags)  # open by its strength alone
    gain: F32 = field(default_factory=floats)  # of the leaky mean, per sample
    strengths: Strengths = field(default_factory=Strengths)
    until: F64 = field(default_factory=doubles)  # learning is frozen until then, while open
    known: int = 0


class Judged(NamedTuple):
    """Which rows of a wave begin to be wrong, still are, or are calm again."""

    begins: Bool
    goes_on: Bool
    ends: Bool
    frozen: Bool


class Persistence:
    """Keeps the registers of all blocks; `rates` says from which strength on less is offered."""

    def __init__(self, rates: Rates | None = None) -> None:
        self._all: list[Registers] = []
        self._rates = rates or Rates()

    def of(self, block: Block) -> Registers:
        """Return the registers of a block, grown to the series it holds now."""
        while len(self._all) <= block.number:
            self._all.append(Registers())
            self._all[-1].strengths.grow(BLOCK)
        own = self._all[block.number]
        for local in range(own.known, block.used):
            need = NEEDS[block.signal(local).period_seconds]
            own.need[local], own.window[local] = need.k, (1 << need.n) - 1
            own.calm[local] = (1 << need.calm) - 1
            own.gain[local] = 2 / need.n
        own.known = block.used
        return own

    def step(self, wave: Wave, score: Score) -> Judged:
        """Shift the registers by one sample and say what changed."""
        r, rows = self.of(wave.block), wave.rows
        moved = wave.mask & score.own
        sign = np.sign(score.effect).astype(np.int8)
        hot = score.ready & (score.surprise >= SURPRISE) & (np.abs(score.effect) >= 1)
        turned = hot & (r.sign[rows] != sign)
        held = np.where(turned, 0, r.hot[rows]).astype(np.uint32)
        bitsets = np.where(moved, (held << np.uint32(1)) | hot, r.hot[rows]).astype(np.uint32)
        r.hot[rows] = bitsets
        r.sign[rows] = np.where(hot, sign, r.sign[rows])
        enough = np.bitwise_count(bitsets & r.window[rows]) >= r.need[rows]
        opened, level = r.open[rows], self._rates.levels[OWN][wave.block.klass[rows]]
        size = self._strength(r, wave, score, moved)
        lesser = moved & score.ready & (size >= level)
        lesser &= score.effect * r.strengths.held[rows] > 0  # and this sample is off as well
        r.lesser[rows] &= ~enough
        calm = np.where(r.lesser[rows], size < level / 2, (bitsets & r.calm[rows]) == 0)
        ends = opened & moved & calm
        frozen = (opened & (wave.time < r.until[rows])) | (bitsets & np.uint32(3) == np.uint32(3))
        lead = np.where(score.ready & (bitsets == 0), score.effect - r.lead[rows], 0)
        r.lead[rows] += np.float32(LEAD) * lead
        begins = ((enough & hot) | lesser) & ~opened & moved
        return Judged(begins, opened & (hot | lesser) & moved, ends, frozen)

    def _strength(self, r: Registers, wave: Wave, score: Score, moved: Bool) -> F32:
        """Move the strengths by one sample and count the episodes that are over."""
        rows = wave.rows
        severe = severity(score.surprise, score.effect)
        size = r.strengths.move(rows, severe, r.gain[rows], moved & score.ready)
        klass = wave.block.klass[rows].astype(np.int64)
        r.strengths.end(rows, size, wave.time, self._rates, OWN, klass)
        return size

    def forget(self, block: Block, rows: Ints) -> None:
        """Begin anew with series whose level is learned anew."""
        own = self.of(block)
        own.hot[rows] = 0
        klass = block.klass[rows].astype(np.int64)
        own.strengths.forget(rows, block.time[rows], self._rates, OWN, klass)

    def open(self, block: Block, local: int, seconds: float) -> None:
        """Mark a series as wrong; after FREEZE_SECONDS it is learned from again."""
        own = self.of(block)
        own.open[local], own.until[local] = True, seconds + FREEZE_SECONDS
        few = int(own.hot[local] & own.window[local]).bit_count() < own.need[local]
        own.lesser[local] = few

    def stepped(self, block: Block, local: int) -> bool:
        """Say whether the series jumped from near its centre (else it had been drifting)."""
        return abs(float(self.of(block).lead[local])) < 0.3
